/**
 * `skep call`: one action of NIP-BA from a shell. The result is one line of JSON on stdout, whatever it is; the exit
 * code says what a script must know: done, refused without effects, not known, no verdict. Endpoint and credential come
 * from the environment and never from an argument, which other users could read in a list of processes.
 */
import type { Command } from 'commander';
import { ACTION_NAMES } from '../client.ts';
import type { CallResult } from '../client.ts';
import { readArgs } from '../broker/client/index.ts';
import { Failure, unreachable } from '../model/index.ts';
import { clientFromEnvironment } from './access.ts';
import { write } from './output.ts';
import { safe } from './print.ts';

/** The largest request there is; more on stdin is no request. */
const MAX_STDIN_BYTES = 524_288;

interface CallFlags {
  readonly requestId?: string;
}

export function callVerb(program: Command): void {
  program
    .command('call')
    .description('ask the broker for one action, as an agent does')
    .argument('<action>', 'such as message.post')
    .argument('[args]', "the action's arguments as one JSON object, or - to read them from stdin", '{}')
    .option('--request-id <id>', 'to retry: the id of an earlier call with the very same action and arguments')
    .addHelpText('after', `
SKEP_BROKER_URL and SKEP_CREDENTIAL say where the broker is and who asks. The result is one line of JSON.

Actions: ${ACTION_NAMES.join(', ')}

Exit codes: 0 succeeded, 2 nothing was sent, 5 succeeded and the result could not be printed, 10 failed without effects,
11 may have had effects, 12 no verdict.
After 11 or 12, retry with the printed requestId; a new call could do it twice.`)
    .action(async (action: string, args: string, flags: CallFlags) => {
      const text = args === '-' ? await readStdin() : args;
      await call(action, text, flags);
    });
}

async function call(action: string, text: string, { requestId }: CallFlags): Promise<void> {
  const client = clientFromEnvironment(process.env);
  try {
    if (!ACTION_NAMES.some((name) => name === action)) throw new Failure('usage', `call: action: found ${safe(action)}, expected a known action; skep call --help lists them`);
    const read = readArgs(action, text);
    if (read.status === 'refused') return await conclude(read);
    // An id is only given to retry, so a refusal must not be taken for the whole story.
    const again = requestId === undefined ? {} : { requestId, sentBefore: true };
    await conclude(await client.callUntyped(read.action, read.args, again));
  } finally {
    client.close();
  }
}

/** Prints, and throws what becomes the line on stderr and the exit code. */
async function conclude(result: CallResult): Promise<void> {
  const unprinted = result.status === 'refused' ? undefined : await printed(result);
  switch (result.status) {
    case 'succeeded': {
      if (unprinted === undefined) return;
      const again = `--request-id ${safe(result.requestId)} with the same arguments tells its result again`;
      throw new Failure(unprinted.code, `${unprinted.message}; the action succeeded: ${again}`, { cause: unprinted });
    }
    case 'refused':
      throw new Failure('usage', `call: ${safe(result.detail)}`);
    case 'failed': {
      const { code, message } = result.error;
      if (result.uncertain) {
        throw new Failure('call_uncertain', `${code}: ${safe(message)}; an earlier attempt may have been executed all the same`);
      }
      throw new Failure('call_failed', `${code}: ${safe(message)}; it had no effects`);
    }
    case 'indeterminate':
      throw new Failure('call_uncertain', `${result.error.code}: ${safe(result.error.message)}; ${retryLine(result.requestId)}`);
    case 'transport': {
      const then = result.uncertain ? retryLine(result.requestId) : 'nobody was reached';
      throw new Failure('call_transport', `no verdict: ${safe(result.detail)}; ${then}`);
    }
    default:
      return unreachable(result);
  }
}

/** Why it is not printed in full, or undefined. Whatever did not succeed is told on stderr and by the exit code, too. */
async function printed(result: CallResult): Promise<Failure | undefined> {
  try {
    await write(`${jsonOf(result)}\n`);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function retryLine(requestId: string): string {
  return `it may have been executed: retry with --request-id ${safe(requestId)}`;
}

/** As JSON, with u64 values as the integers they are. */
function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries<unknown>({ ...value }).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`).join(',')}}`;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_STDIN_BYTES) throw new Failure('usage', `call: stdin: expected at most ${MAX_STDIN_BYTES} bytes`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new Failure('usage', 'call: stdin: found bytes that are not UTF-8, expected UTF-8', { cause });
  }
}
