/**
 * What must not stand in a body that everybody may read (NIP-AP "Prohibited: secrets in content"): a member `env_vars`,
 * at any depth, is refused. A value that has the form of a key is the owner's to judge, so it is a warning; neither ever
 * repeats the value.
 */
import { excerpt, redact, refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';

/** `path` is where it stands (`name_pool[1]`), `sort` what it looks like. */
export interface SecretWarning {
  readonly path: string;
  readonly sort: string;
}

const FORBIDDEN_NAME = 'env_vars';

const SORTS: readonly (readonly [sort: string, pattern: RegExp])[] = [
  ['a Nostr secret key', /\b(?:nsec1|ncryptsec1)[02-9ac-hj-np-z]{20,}/i],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a JSON web token', /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/],
  ['a cloud access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}/],
  ['an access token', /\b(?:github_pat_|glpat-|hf_|npm_|pypi-)[\w-]{16,}/],
  ['a password in an address', /:\/\/[^\s/@:]{1,100}:[^\s/@]{1,200}@/],
];

/** Refused where a member is called `env_vars`; else what looks like a secret. The body is JSON of ours or of others. */
export function checkSecrets(body: string): { readonly ok: true; readonly warnings: readonly SecretWarning[] } | Refusal<'secret'> {
  const warnings: SecretWarning[] = [];
  // A list that grows while it is walked, and no recursion: a body may be nested deeper than a stack.
  const left: { readonly path: string; readonly value: unknown }[] = [{ path: '', value: JSON.parse(body) as unknown }];
  for (const { path, value } of left) {
    if (typeof value === 'string') {
      const sort = sortOf(value);
      if (sort !== undefined) warnings.push({ path, sort });
    } else if (Array.isArray(value)) {
      left.push(...(value as readonly unknown[]).map((element, at) => ({ path: `${path}[${at}]`, value: element })));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (name === FORBIDDEN_NAME) return refuse('secret', `${FORBIDDEN_NAME}: expected in no body that others can read`);
        left.push({ path: path === '' ? excerpt(name) : `${path}.${excerpt(name)}`, value: member as unknown });
      }
    }
  }
  return { ok: true, warnings };
}

/** `text` as it may stand on a screen: what looks like a key shows as its sort. */
export function maskSecrets(text: string): string {
  return redact(SORTS.reduce((rest, [sort, pattern]) => rest.replace(new RegExp(pattern, `${pattern.flags}g`), `<${sort}>`), text));
}

function sortOf(text: string): string | undefined {
  const known = SORTS.find(([, pattern]) => pattern.test(text));
  return known?.[0] ?? (redact(text) === text ? undefined : 'a key or token');
}
