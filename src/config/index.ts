/**
 * `skep.yaml`.
 * in: a file path, src/model, src/nostr (key texts, attestations), adapters (names), src/control (the socket's path).
 * out: a whole, checked, readonly `Config` with every file read and every key resolved, or one line that says what to
 * change.
 */
export { loadConfig } from './load.ts';
export type { Machine } from './load.ts';
export type { AgentConfig, Config, EmbeddedChannel, PermissionMode, RelayConfig, RespondTo } from './config.ts';
export { formatDuration, parseDuration } from './duration.ts';
export { readSecretFile } from './files.ts';
