/**
 * One relay has one URL: scheme and host in lower case, no default port, no trailing slash. `wss://h`, `wss://h/` and
 * `WSS://H:443/` are then one connection, and the `relay` tag of the AUTH event (NIP-42) says what the relay expects.
 */
import { excerpt, refuse } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';

/** The normal form of a ws or wss URL. Credentials are refused, and never repeated, because logs carry the URL. */
export function normalizeRelayUrl(text: string): { readonly ok: true; readonly url: string } | Refusal<'relay_url'> {
  // What stands before an @ may be a password.
  const found = text.includes('@') ? 'a text with @' : `"${excerpt(text)}"`;
  const expected = (what: string): Refusal<'relay_url'> => refuse('relay_url', `relay URL: expected ${what}, found ${found}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) return expected('ws://host or wss://host');
  if (url.username !== '' || url.password !== '') return expected('no user or password');
  if (url.hash !== '') return expected('no fragment');
  return { ok: true, url: `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}${url.search}` };
}
