/**
 * `acp_command`: with which transport an agent is started, and what of it crosses from one device or owner to another
 * (NIP-AP "Transport portability"). A path of this machine is never published in a catalog and never taken from one.
 *
 *   who reads or writes      | absent or null        | portable | anything else
 *   a catalog is written     | stock, said           | as it is | left out
 *   the same over one that
 *   left it out              | left out              | as it is | left out
 *   a stranger's catalog     | stock                 | taken    | refused
 *   own head, in the catalog | own custom, or stock  | taken    | as if absent: no writer may put it there
 *   own head, not in it      | stock                 | taken    | taken: it is the owner's own device
 */
import { excerpt, refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';

/** What absence selects. */
export const STOCK_COMMAND = 'buzz-acp';

const NAMED = /^buzz-[A-Za-z0-9_-]+-acp$/;
const MAX_BYTES = 255;

export function isPortableCommand(command: string): boolean {
  return command === STOCK_COMMAND || (command.length <= MAX_BYTES && NAMED.test(command));
}

/** What a catalog publication says for this command; undefined leaves the member out. `before` is the head it replaces. */
export function catalogCommand(local: string | undefined, before?: OwnHead): string | undefined {
  if (local !== undefined) return isPortableCommand(local) ? local : undefined;
  // The one left out there may be kept on another device of the owner's: stock, said, would take its place.
  return before?.isShared === true && before.found === undefined ? undefined : STOCK_COMMAND;
}

/** What a stranger's catalog selects here. */
export function foreignCommand(found: string | undefined): { readonly ok: true; readonly command: string } | Refusal<'transport'> {
  if (found === undefined) return { ok: true, command: STOCK_COMMAND };
  if (isPortableCommand(found)) return { ok: true, command: found };
  return refuse('transport', `acp_command: expected ${STOCK_COMMAND} or buzz-<name>-acp, found "${excerpt(found)}"`);
}

export interface OwnHead {
  readonly found: string | undefined;
  readonly isShared: boolean;
}

/** What the owner's own head selects on a device whose definition has had `local` until now. */
export function ownCommand({ found, isShared }: OwnHead, local: string | undefined): string {
  if (!isShared) return found ?? STOCK_COMMAND;
  if (found !== undefined && isPortableCommand(found)) return found;
  // It may have been left out because it is a path of this very machine.
  return local !== undefined && !isPortableCommand(local) ? local : STOCK_COMMAND;
}
