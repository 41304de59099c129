/**
 * What is wrong with an agent program that did not start, or gave no session, and how it is mended. By codes where there
 * are any; by the program's own words only to choose among mends, never to decide anything.
 */
import { describeEnd, findNotExecutable } from '../../acp/index.ts';
import type { LaunchPlan, ProcessEnd, SessionRefused } from '../../acp/index.ts';
import type { AdapterProfile } from '../../../adapters/index.ts';
import { problem } from './finding.ts';
import type { Finding } from './finding.ts';

const LOGIN = /authenticat|log ?in|api[ _-]?key|unauthori[sz]ed|credential|\b401\b/i;
const FLAG = /(?:unknown|unexpected|unrecogni[sz]ed|invalid) (?:option|argument|flag|command|subcommand)|^usage:|error: .*--?[a-z-]+.*wasn't expected/im;
const NODE = /requires? node|unsupported engine|node(?:\.js)? (?:version )?v?\d+.*(?:required|or (?:newer|higher|later))|ERR_REQUIRE_ESM|no such built-in module|SyntaxError/i;
const FOLDER = /cwd|working directory|no such (?:file or )?directory|ENOENT/i;
const TRUST = /trust/i;
const NO_AGENT = 'it may be no ACP agent, or may need other arguments to be one';
/** ACP: the agent wants `authenticate` first. */
const AUTH_REQUIRED = -32_000;

export function notStarted(end: ProcessEnd, profile: AdapterProfile): Finding {
  const what = describeEnd(end);
  switch (end.how) {
    case 'not_found':
      return problem('start', what, missing(profile));
    case 'not_executable':
      return problem('start', what, executable(end.command));
    case 'no_interpreter':
      return problem('start', what, interpreterMend(end.interpreter, profile));
    case 'start_timeout':
      return problem('start', what, `${NO_AGENT}; it may wait for a login on a terminal`);
    case 'exited_at_start':
    case 'exited':
    case 'signalled':
      return problem('start', what, end.stderrTail === '' ? NO_AGENT : byWords(end.stderrTail, profile));
    case 'start_refused':
      return problem('start', what, byWords(end.detail, profile));
    case 'protocol':
    case 'poisoned':
    case 'stopped':
      return problem('start', what, NO_AGENT);
  }
}

function interpreterMend(interpreter: string | undefined, { needs: { install } }: AdapterProfile): string {
  if (interpreter?.endsWith('\r') === true) return 'its lines end in CR LF: save it with the line ends of Unix';
  return `put ${interpreter ?? 'its loader'} there, or install the program anew${install === undefined ? '' : `: ${install}`}`;
}

export function noSession(refused: SessionRefused, profile: AdapterProfile): Finding {
  const { detail } = refused;
  if (refused.code === 'timeout') return problem('session', detail, 'it may wait for its model\'s provider or a login; try it by hand');
  if (refused.code === 'error' && refused.rpcCode === AUTH_REQUIRED) return problem('session', detail, login(profile));
  return problem('session', detail, byWords(detail, profile));
}

/** A program that was looked for and not found; there may be a file of that name that only may not be run. */
export function absent(about: string, sought: Pick<LaunchPlan, 'command' | 'cwd' | 'env'>, profile: AdapterProfile): Finding {
  const path = findNotExecutable(sought);
  return path === undefined
    ? problem(about, `there is no program ${sought.command}`, missing(profile))
    : problem(about, `${path} may not be executed`, executable(path));
}

/** The same of a program that the agent needs beside its own. */
export function lacking(sought: Pick<LaunchPlan, 'command' | 'cwd' | 'env'>): Finding {
  const path = findNotExecutable(sought);
  return path === undefined
    ? problem('program', `it needs ${sought.command}, which is not on PATH`, `install ${sought.command}`)
    : problem('program', `it needs ${path}, which may not be executed`, executable(path));
}

function executable(path: string): string {
  return `make it executable: chmod +x ${path}`;
}

function missing({ needs, docsUrl }: AdapterProfile): string {
  if (needs.install !== undefined) return `install it: ${needs.install}`;
  return docsUrl === undefined ? 'give its path in adapter.command, or put it on PATH' : `install it: ${docsUrl}`;
}

function byWords(words: string, profile: AdapterProfile): string {
  const { needs } = profile;
  if (FLAG.test(words)) return 'its version does not know the arguments it is given; install the current one, or name others in adapter.args';
  if (NODE.test(words)) return `it needs another Node${needs.node === undefined ? '' : ` (${needs.node})`}; put that one first on PATH`;
  if (TRUST.test(words) && needs.trust !== undefined) return `set ${needs.trust.name}=${needs.trust.value} in env`;
  if (LOGIN.test(words)) return login(profile);
  if (FOLDER.test(words)) return 'see that cwd exists, and every program it needs is on PATH';
  return 'its own words say what is wrong; its documentation what to do';
}

function login({ needs }: AdapterProfile): string {
  return `it is not logged in: ${needs.login ?? 'see its documentation'}`;
}
