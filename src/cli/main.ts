/**
 * The command line: verbs, help, and the one place where an ending becomes an exit code. A failure of the outside is
 * one line on stderr and its code of the table; a bug is its stack and 70.
 */
import { Command, CommanderError } from 'commander';
import { exitCodeOf, Failure, redact } from '../model/index.ts';
import { ofOpenFiles } from './open-files.ts';
import { unwritten } from './output.ts';
import { tell } from './print.ts';
import { VERSION } from './version.ts';

/** After a verb has ended everything is closed; what holds the program up longer than this is left behind. */
const LINGER_MS = 2_000;

/** Runs one command line (`process.argv`) and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that goes away (`skep status | head -1`) or a closed terminal ends no work; what the disk did not take is told at the end.
  let lost: Failure | undefined;
  process.stdout.on('error', (error: Error) => { lost ??= process.stdout.isTTY ? undefined : unwritten(error); });
  process.stderr.on('error', () => undefined);
  process.on('uncaughtException', (error) => {
    process.exit(tellEnd(error));
  });
  const code = await run(argv);
  // The error of a write comes behind everything that is settled by now.
  await new Promise((resolve) => { setImmediate(resolve); });
  // A verb that failed has said why; one that answered with a code of its own (`launch plan`: 1, it would not start) has not.
  const hasAnswered = code === (process.exitCode ?? 0);
  const lostCode = lost !== undefined && hasAnswered ? tellEnd(lost) : 0;
  process.exitCode = code === 0 ? lostCode : code;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Loaded by need: an agent waits for `skep mcp`, which needs a small part of the program. In the order of the help. */
const VERBS = {
  init: async () => (await import('./init.ts')).initVerb,
  doctor: async () => (await import('./doctor.ts')).doctorVerb,
  adapters: async () => (await import('./adapters.ts')).adaptersVerb,
  up: async () => (await import('./up.ts')).upVerb,
  status: async () => (await import('./status.ts')).statusVerb,
  restart: async () => (await import('./restart.ts')).restartVerb,
  session: async () => (await import('./session.ts')).sessionVerb,
  owner: async () => (await import('./owner.ts')).ownerVerb,
  persona: async () => (await import('./persona/persona.ts')).personaVerb,
  instructions: async () => (await import('./persona/instructions.ts')).instructionsVerb,
  team: async () => (await import('./persona/team.ts')).teamVerb,
  launch: async () => (await import('./persona/launch.ts')).launchVerb,
  relay: async () => (await import('./relay.ts')).relayVerb,
  demo: async () => (await import('./demo.ts')).demoVerb,
  call: async () => (await import('./call.ts')).callVerb,
  mcp: async () => (await import('./mcp.ts')).mcpVerb,
  compile: async () => (await import('./compile.ts')).compileVerb,
  explain: async () => (await import('./explain.ts')).explainVerb,
  replay: async () => (await import('./replay.ts')).replayVerb,
  fixtures: async () => (await import('./fixtures.ts')).fixturesVerb,
} satisfies Readonly<Record<string, () => Promise<(program: Command) => void>>>;

/** The verb that is named, to be run or to be told of, alone; else all, for help and for what is like a name. */
function verbsOf([, , first, second]: readonly string[]): readonly (() => Promise<(program: Command) => void>)[] {
  const named = Object.entries(VERBS).filter(([name]) => name === (first === 'help' ? second : first));
  return (named.length > 0 ? named : Object.entries(VERBS)).map(([, load]) => load);
}

async function run(argv: readonly string[]): Promise<number> {
  try {
    const words = meant(argv);
    await (await composeProgram(words)).parseAsync([...words]);
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) return toldByCommander(error);
    return tellEnd(error);
  }
}

/** Tells what ended the program; its exit code. */
function tellEnd(error: unknown): number {
  const cause = ofOpenFiles(error) ?? error;
  if (cause instanceof Failure) tell(redact(cause.message));
  else tellBug(cause);
  return exitCodeOf(cause);
}

async function composeProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('skep')
    .description('A home for AI agents on Nostr: keeps them running, hands each one turn at a time, holds their keys.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help; after a verb, the help of that verb')
    .helpCommand('help [verb]', 'print the help of a verb')
    .showSuggestionAfterError(true)
    .exitOverride()
    .addHelpText('after', `\n${EXIT_CODES}`);
  const verbs = await Promise.all(verbsOf(argv).map((load) => load()));
  for (const verb of verbs) verb(program);
  sayMistakes(program, 'skep');
  return program;
}

/** A mistake is one line, which names the help of the verb it was made in. */
function sayMistakes(command: Command, path: string): void {
  command.configureOutput({
    outputError: (text, write) => {
      write(`skep: ${text.replace(/^error: /, '').trim().replaceAll('\n', ' ')}; see ${path} --help\n`);
    },
  });
  for (const verb of command.commands) sayMistakes(verb, `${path} ${verb.name()}`);
}

/** The help of a verb that is none would be the whole help, as a mistake that is not named: the word is tried by itself. */
function meant(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, second] = argv;
  return first === 'help' && second !== undefined && !Object.hasOwn(VERBS, second) ? [node, script, second] : argv;
}

/** Commander has printed its line or its help. */
function toldByCommander({ exitCode }: CommanderError): number {
  return exitCode === 0 ? 0 : 2;
}

function tellBug(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  tell(`a bug in skep; please report this:\n${redact(stack)}`);
}

const EXIT_CODES = `Exit codes:
  0    done, or ended in order by a signal
  1    the demo did not see what it should, a replay differs, an agent or a relay failed, skep doctor found
       something wrong, skep launch plan would not start
  2    a command line, a config or an input that cannot be used
  3    there was nothing to replay
  4    another supervisor holds the data directory
  5    the disk: full, read-only, damaged, locked, or written by a newer skep; the limit of open files is too low
  6    a port or socket cannot be listened on
  7    no supervisor is running here
  10   skep call: the action was refused and had no effects
  11   skep call: the action may have had effects
  12   skep call: no verdict
  13   skep owner: nothing waits for what was ordered, or more than one thing does
  14   skep owner: it was sent, and no answer came in time
  15   skep persona, team, instructions, restart: nothing was changed: declined, or not what was seen
  16   skep persona, team, instructions: stored and not current, or not all of it is done
  70   a bug in skep
  130  forced by a second SIGINT (129 SIGHUP, 143 SIGTERM)`;
