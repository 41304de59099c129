/**
 * A turn as it lies in a file: bytes in, a turn input whose events are true out, or why not and on which line.
 * in: model, nostr, compiler. out: `readTurn`, `decodeText`, `falseEvent`. Pure: whoever has the bytes reads them.
 */
export { decodeText } from './decode.ts';
export type { TextDecoded } from './decode.ts';
export { falseAt, falseEvent } from './events.ts';
export type { FalseEvent } from './events.ts';
export { readTurn } from './read-turn.ts';
export type { TurnRead } from './read-turn.ts';
export type { FileRefusal } from './refusal.ts';
