/**
 * JSON-RPC 2.0 over lines, seen from the agent: what came in is told apart, what goes out is numbered.
 * in: lines. out: calls of the handlers, and frames. A line that is not a JSON object is ignored, as ACP agents do; a
 * response to nothing that waits is ignored. Our request ids start at 0 and are our own: they may equal the client's.
 */
import { isMembers, parseJson } from './json.ts';
import type { Json, Members } from './json.ts';
import type { Output } from './lines.ts';
import type { RpcError } from './script.ts';

export interface Handlers {
  readonly request: (id: Json, method: string, params: Json) => void;
  readonly notification: (method: string, params: Json) => void;
}

export type Reply = { readonly ok: true; readonly result: Json } | { readonly ok: false; readonly error: Members };

export interface Peer {
  readonly receive: (line: string, handlers: Handlers) => void;
  readonly respond: (id: Json, result: Json) => Promise<void>;
  readonly refuse: (id: Json, error: RpcError) => Promise<void>;
  readonly notify: (method: string, params: Json, byteByByte?: boolean) => Promise<void>;
  /** Sends a request that waits, under its id, until it is forgotten. Throws on an id in use. */
  readonly request: (method: string, params: Json, id: Json | undefined) => Waiting;
}

export interface Waiting {
  /** The first response; later ones are nothing. */
  readonly reply: Promise<Reply>;
  /** Frees the id. A response that comes afterwards is ignored. */
  readonly forget: () => void;
}

export function peer(out: Output): Peer {
  // Keyed by the id's JSON, for 7 and "7" are two ids.
  const waiting = new Map<string, (reply: Reply) => void>();
  let nextId = 0;

  const send = (frame: Members, byteByByte = false): Promise<void> =>
    out.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`, byteByByte);

  const freeId = (): number => {
    while (waiting.has(String(nextId))) nextId += 1;
    return nextId++;
  };

  return {
    receive: (line, handlers) => {
      const frame = parseJson(line);
      if (!isMembers(frame)) return;
      const { method, id, params = null, error, result = null } = frame;
      if (typeof method === 'string') {
        if (id === undefined) handlers.notification(method, params);
        else handlers.request(id, method, params);
        return;
      }
      if (id === undefined) return;
      const settle = waiting.get(JSON.stringify(id));
      settle?.(isMembers(error) ? { ok: false, error } : { ok: true, result });
    },
    respond: (id, result) => send({ id, result }),
    refuse: (id, { code, message, data }) =>
      send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } }),
    notify: (method, params, byteByByte) => send({ method, params }, byteByByte),
    request: (method, params, id) => {
      const chosen = id === undefined ? freeId() : id;
      const key = JSON.stringify(chosen);
      if (waiting.has(key)) throw new Error(`request id ${key} is already waiting for an answer`);
      const reply = new Promise<Reply>((settle) => waiting.set(key, settle));
      void send({ id: chosen, method, params });
      return { reply, forget: () => void waiting.delete(key) };
    },
  };
}
