/**
 * Where log lines go.
 * in: src/model. out: `openLog`, a `Log` that writes JSON lines for machines or one-line texts for people, redacted.
 */
export { openLog } from './open.ts';
export type { LogOutput } from './open.ts';
