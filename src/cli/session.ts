/**
 * `skep session`: credentials for programs that skep does not run, asked of the running supervisor. A token is printed
 * once, on stdout, and nowhere else; everything about it goes to stderr, so that a shell can take it as it is.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { loadConfig, parseDuration } from '../config/index.ts';
import { askSessions, socketPathOf } from '../control/index.ts';
import type { SessionRequest } from '../control/index.ts';
import type { IssuedCredential } from '../broker/index.ts';
import { systemClock } from '../system/index.ts';
import { askedAs } from './agent-named.ts';
import { write } from './output.ts';
import { print, safe, tell } from './print.ts';
import { sessionLines } from './session-lines.ts';

/** One commit on a disk that may be busy. */
const ANSWER_MS = 10_000;
const DEFAULT_LIFETIME = '30d';

interface Flags {
  readonly config: string;
  readonly data?: string;
  readonly json?: boolean;
}

interface IssueFlags extends Flags {
  readonly agent: string;
  readonly actions?: readonly string[];
  readonly channels?: readonly string[];
  /** Milliseconds, or that it does not expire. */
  readonly expires: number | 'never';
  readonly label?: string;
}

export function sessionVerb(program: Command): void {
  const session = program
    .command('session')
    .description('issue, list, rotate and revoke credentials for programs that skep does not run');
  common(session.command('issue').description('a new credential; its token is printed once'))
    .requiredOption('--agent <name>', 'the agent it acts as: its name, its npub or hex')
    .option('--actions <list>', 'only these actions, separated by commas', commaList)
    .option('--channels <list>', 'only these channels (UUIDs), separated by commas', commaList)
    .addOption(new Option('--expires <duration>', 'how long it lives, such as 12h or 90d, or never')
      .argParser(lifetime).default(lifetime(DEFAULT_LIFETIME), DEFAULT_LIFETIME))
    .option('--label <text>', 'a word for people')
    .addHelpText('after', `
Give the token to the program as SKEP_CREDENTIAL, and the endpoint as SKEP_BROKER_URL. Channels confine the actions that
name a channel; --actions confines the others.`)
    .action(issue);
  common(session.command('list').description('every session: issued ones, and those of the agents that run')).action(list);
  common(session.command('rotate').description('another token for the same credential; the old one ends at once'))
    .argument('<id>', 'as issue and list show it')
    .action(async (id: string, flags: Flags) => {
      await tellIssued((await askRunning(flags, { v: 1, ask: 'session.rotate', id })).issued, flags);
    });
  common(session.command('revoke').description('end a credential, also for what is under way'))
    .argument('<id>', 'as issue and list show it')
    .action(async (id: string, flags: Flags) => {
      await askRunning(flags, { v: 1, ask: 'session.revoke', id });
      if (flags.json === true) print(JSON.stringify({ id, state: 'revoked' }));
      else print(`revoked ${safe(id)}`);
    });
}

function common(command: Command): Command {
  return command
    .option('-c, --config <file>', 'the config of the running supervisor', 'skep.yaml')
    .option('-d, --data <directory>', 'its data directory, instead of a config')
    .option('--json', 'the answer as one line of JSON');
}

async function issue(flags: IssueFlags): Promise<void> {
  const { agent, actions, channels, expires, label } = flags;
  const answer = await askRunning(flags, {
    v: 1, ask: 'session.issue', agent: askedAs(agent),
    ...(actions === undefined ? {} : { actions: [...actions] }),
    ...(channels === undefined ? {} : { channels: [...channels] }),
    ...(expires === 'never' ? {} : { lifetimeMs: expires }),
    ...(label === undefined ? {} : { label }),
  });
  await tellIssued(answer.issued, flags);
}

async function list(flags: Flags): Promise<void> {
  const { sessions = [] } = await askRunning(flags, { v: 1, ask: 'session.list' });
  if (flags.json === true) print(JSON.stringify(sessions));
  else for (const line of sessionLines(sessions, systemClock.now())) print(line);
}

function askRunning({ config, data }: Flags, request: SessionRequest): ReturnType<typeof askSessions> {
  const directory = data === undefined ? loadConfig(config).dataDirectory : resolve(data);
  return askSessions(socketPathOf(directory), request, ANSWER_MS);
}

/** A token that the disk did not take is lost: that is a failure. Its id is told before, but for `--json`. */
async function tellIssued(issued: IssuedCredential | undefined, { json = false }: Flags): Promise<void> {
  if (issued === undefined) throw new TypeError('a credential was issued without a token');
  if (json) {
    await write(`${JSON.stringify(issued)}\n`);
    return;
  }
  const { id, token, agent, endpoint, lasting, expiresAtMs } = issued;
  const end = expiresAtMs === undefined ? 'until it is revoked' : `until ${new Date(expiresAtMs).toISOString()}`;
  tell(`credential ${safe(id)} acts as ${safe(agent)}, ${end}; its token is not shown again`);
  tell(`SKEP_BROKER_URL=${safe(endpoint)}${lasting ? '' : ' (another port after the next start: set broker.port in skep.yaml)'}`);
  await write(`${token}\n`);
}

function commaList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim());
}

function lifetime(text: string): number | 'never' {
  const ms = text === 'never' ? text : parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a duration like 12h or 90d, or never');
  return ms;
}
