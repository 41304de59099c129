/**
 * Sessions that outlive their process, where a script says so: what was said in each, one update a line, in a file of the
 * gates directory that has the session's name.
 * in: the updates of turns as they are sent. out: the same again, for a client that loads the session; how many prompts
 * it has had.
 */
import type { Gates } from './gates.ts';
import { isMembers, parseJson } from './json.ts';
import type { Members } from './json.ts';
import type { Peer } from './peer.ts';

export interface Transcript {
  /** From here on the session is known, also to a process that comes after. */
  readonly begin: (sessionId: string) => void;
  readonly prompted: (sessionId: string, text: string) => void;
  /** Undefined for a session that nobody has begun. */
  readonly of: (sessionId: string) => readonly Members[] | undefined;
  /** Writes down what is sent through it. */
  readonly through: (sessionId: string, peer: Peer) => Peer;
}

export function transcript(gates: Pick<Gates, 'append' | 'read'>): Transcript {
  const add = (sessionId: string, update: Members): void => { gates.append(sessionId, `${JSON.stringify(update)}\n`); };
  return {
    begin: (sessionId) => { gates.append(sessionId, ''); },
    prompted: (sessionId, text) => { add(sessionId, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text } }); },
    of: (sessionId) => gates.read(sessionId)?.split('\n').map(parseJson).filter(isMembers),
    through: (sessionId, peer) => ({
      ...peer,
      notify: (method, params, byteByByte) => {
        const update = isMembers(params) ? params['update'] : undefined;
        if (method === 'session/update' && isMembers(update)) add(sessionId, update);
        return peer.notify(method, params, byteByByte);
      },
    }),
  };
}

export function promptsIn(updates: readonly Members[]): number {
  return updates.filter((update) => update['sessionUpdate'] === 'user_message_chunk').length;
}
