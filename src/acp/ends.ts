/**
 * The ways in which a process can fail to start or can end, each made in one place; and the words for people. Which
 * came first decides (`Lifetime`), and is kept.
 */
import { excerpt, unreachable } from '../model/index.ts';
import type { ProcessEnd } from './ports.ts';

/** Characters of stderr quoted in a one-line message; the whole tail is in the end itself. */
const MAX_QUOTED = 400;

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export function endOfExit({ exitCode, signal }: Exit, stderrTail: string): ProcessEnd {
  return signal === null
    ? { how: 'exited', exitCode: exitCode ?? 0, stderrTail }
    : { how: 'signalled', signal, stderrTail };
}

/** The same end, seen by somebody who waits for the answer to `initialize`. */
export function endAtStart(end: ProcessEnd, command: string): ProcessEnd {
  switch (end.how) {
    case 'exited':
      return { how: 'exited_at_start', command, exitCode: end.exitCode, stderrTail: end.stderrTail };
    case 'signalled':
      return {
        how: 'start_refused',
        command,
        detail: `ended by ${end.signal} before its first answer${quoted(end.stderrTail)}`,
      };
    case 'protocol':
      return { how: 'start_refused', command, detail: end.detail };
    case 'not_found':
    case 'not_executable':
    case 'no_interpreter':
    case 'exited_at_start':
    case 'start_timeout':
    case 'start_refused':
    case 'poisoned':
    case 'stopped':
      return end;
    default:
      return unreachable(end);
  }
}

/** What the system said when it could not start the program; its errno name decides. */
export function endOfSpawnError(command: string, error: Error): ProcessEnd {
  const code: unknown = Reflect.get(error, 'code');
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { how: 'not_found', command };
    case 'EACCES':
    case 'EPERM':
    case 'ENOEXEC':
      return { how: 'not_executable', command };
    default:
      return { how: 'start_refused', command, detail: excerpt(error.message, MAX_QUOTED) };
  }
}

/** One line that names command and cause. */
export function describeEnd(end: ProcessEnd): string {
  switch (end.how) {
    case 'not_found':
      return `${excerpt(end.command)}: no such program on the agent's PATH`;
    case 'not_executable':
      return `${excerpt(end.command)}: found, but it may not be executed`;
    case 'no_interpreter':
      return `${excerpt(end.command)}: found, but not what runs it${end.interpreter === undefined ? '' : `: ${excerpt(end.interpreter, MAX_QUOTED)}`}`;
    case 'exited_at_start':
      return `${excerpt(end.command)}: exited with code ${end.exitCode} at the start${quoted(end.stderrTail)}`;
    case 'start_timeout':
      return `${excerpt(end.command)}: did not answer initialize within ${end.afterMs} ms`;
    case 'start_refused':
      return `${excerpt(end.command)}: ${end.detail}`;
    case 'exited':
      return `the agent exited with code ${end.exitCode}${quoted(end.stderrTail)}`;
    case 'signalled':
      return `the agent was ended by ${end.signal}${quoted(end.stderrTail)}`;
    case 'protocol':
      return `the agent broke the protocol: ${end.detail}`;
    case 'poisoned':
      return 'the agent was ended: it is not known what it has read of a permission answer';
    case 'stopped':
      return 'the agent was stopped';
    default:
      return unreachable(end);
  }
}

/** What Node writes under an error that nobody caught: its version, below the stack, the members of the error and a hint. */
const NODE_SIGNATURE = /^Node\.js v\d/;
const BELOW_ERROR = /^\s|^[\]})]+$|^\(Use `node /;

/** The end of a stderr tail is where the cause stands; of an error that Node printed, it is above the stack. */
function quoted(stderrTail: string): string {
  const lines = stderrTail.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  const above = NODE_SIGNATURE.test(last) ? lines.slice(0, -1).findLast((line) => line !== '' && !BELOW_ERROR.test(line)) : undefined;
  const cause = above ?? last;
  return cause === '' ? '' : `; stderr: ${excerpt(cause, MAX_QUOTED)}`;
}
