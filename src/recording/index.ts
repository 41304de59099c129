/**
 * Recording: what the supervisor does, as fixtures that can be replayed; and real fixtures as ones that can be shown.
 * in: model, nostr, compiler, replay, the supervisor's tape. out: `Recorder`, `scrubFiles`.
 */
export { Recorder } from './recorder.ts';
export type { RecorderOptions, RecordingReport } from './recorder.ts';
export { scrubFiles } from './scrub/files.ts';
export type { Scrubbing, ScrubOptions } from './scrub/files.ts';
