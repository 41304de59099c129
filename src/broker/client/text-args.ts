/**
 * Arguments that come as JSON text, read as strictly as a host reads them: a repeated member, null, `1.0` where an
 * integer belongs are told here, before JSON.parse could lose them. NIP-BA "Wire and normalization".
 */
import { readRequest } from '../wire/index.ts';
import type { BrokerRequest } from '../wire/index.ts';
import type { Refused } from './ports.ts';

/** The normalised arguments of `action`; a refusal names the member. */
export function readArgs(
  action: string,
  text: string,
): { readonly status: 'read'; readonly action: BrokerRequest['action']; readonly args: BrokerRequest['args'] } | Refused {
  if (text.trim() === '') return { status: 'refused', code: 'invalid_request', detail: 'args: found no text, expected one JSON object' };
  // By itself first: a place in the whole request would say nothing to whoever wrote the text, and it cannot close the object it is put into.
  if (!isJson(text)) return { status: 'refused', code: 'invalid_request', detail: 'args: found text that is no JSON, expected one JSON object; in a shell it stands between single quotes' };
  const body = `{"type":"broker_request","protocolVersion":1,"requestId":"r","actionVersion":1,` +
    `"action":${JSON.stringify(action)},"args":${text}}`;
  const reading = readRequest(new TextEncoder().encode(body));
  if (!reading.ok) return { status: 'refused', code: reading.code, detail: reading.detail };
  return { status: 'read', action: reading.request.action, args: reading.request.args };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
