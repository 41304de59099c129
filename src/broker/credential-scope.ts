/** What an operator may order of a credential: names of actions, channels, a lifetime, a label; bounded, each once. */
import { asChannelId, excerpt, refuse } from '../model/index.ts';
import type { ChannelId, Refusal } from '../model/index.ts';
import type { CredentialOrder } from './credential-ports.ts';
import { actionNamed } from './wire/index.ts';
import type { ActionName } from './wire/index.ts';

export interface OrderedScope {
  readonly label?: string;
  readonly actions?: readonly ActionName[];
  readonly channels?: readonly ChannelId[];
}

/** More is no scope but all of them. */
export const MAX_SCOPE_CHANNELS = 64;
export const MAX_LABEL_CHARACTERS = 120;
export const MIN_LIFETIME_MS = 60_000;
export const MAX_LIFETIME_MS = 3_650 * 86_400_000;

export function readScope({ label, actions, channels, lifetimeMs }: CredentialOrder): { readonly ok: true; readonly scope: OrderedScope } | Refusal<'scope'> {
  if (lifetimeMs !== undefined && !(Number.isInteger(lifetimeMs) && lifetimeMs >= MIN_LIFETIME_MS && lifetimeMs <= MAX_LIFETIME_MS)) {
    return refuse('scope', 'expires: expected 1m to 3650d');
  }
  if (label !== undefined && !isLabel(label)) {
    return refuse('scope', `label: expected 1 to ${MAX_LABEL_CHARACTERS} printable characters`);
  }
  const known = parsed(actions, actionNamed);
  if (!known.ok) return refuse('scope', `actions: found ${excerpt(known.stranger, 48)}, expected actions of NIP-BA`);
  const ids = parsed(channels, (text) => asChannelId(text.toLowerCase()));
  if (!ids.ok) return refuse('scope', `channels: found ${excerpt(ids.stranger, 48)}, expected channel ids (UUIDs)`);
  if ((ids.items?.length ?? 0) > MAX_SCOPE_CHANNELS) return refuse('scope', `channels: expected at most ${MAX_SCOPE_CHANNELS}`);
  return {
    ok: true,
    scope: {
      ...(label === undefined ? {} : { label }),
      ...(known.items && { actions: known.items }),
      ...(ids.items && { channels: ids.items }),
    },
  };
}

function isLabel(text: string): boolean {
  return text.trim() !== '' && text.length <= MAX_LABEL_CHARACTERS && !/[\p{Cc}\p{Cs}]/u.test(text);
}

type Parsed<T> = { readonly ok: true; readonly items: readonly T[] | undefined } | { readonly ok: false; readonly stranger: string };

/** An empty list would be a credential for nothing: it is a mistake. */
function parsed<T>(texts: readonly string[] | undefined, parse: (text: string) => T | undefined): Parsed<T> {
  if (texts === undefined) return { ok: true, items: undefined };
  if (texts.length === 0) return { ok: false, stranger: 'none' };
  const items = new Set<T>();
  for (const text of texts) {
    const item = parse(text);
    if (item === undefined) return { ok: false, stranger: text };
    items.add(item);
  }
  return { ok: true, items: [...items] };
}
