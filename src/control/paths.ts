/** The files of a data directory that say who runs it. The database is the store's. */
import { join } from 'node:path';

/**
 * A UNIX socket's path holds 103 bytes and a NUL on macOS, 107 on Linux; beyond that the system cuts it or refuses.
 * We refuse earlier, when the config is loaded.
 */
export const MAX_SOCKET_PATH_BYTES = 100;

export function socketPathOf(dataDirectory: string): string {
  return join(dataDirectory, 'skep.sock');
}

export function pidPathOf(dataDirectory: string): string {
  return join(dataDirectory, 'skep.pid');
}

export function lockPathOf(dataDirectory: string): string {
  return join(dataDirectory, 'lock.db');
}
