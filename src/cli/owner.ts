/**
 * `skep owner`: the owner's side of NIP-AO from a terminal or a script. Each verb but `watch` connects, does one thing,
 * waits for its answer in bounded time, and says what came of it.
 */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../config/index.ts';
import { asChannelId, Failure } from '../model/index.ts';
import type { ChannelId, Pubkey } from '../model/index.ts';
import { decidable, decide, MIN_PREFIX_CHARACTERS, order } from '../owner/index.ts';
import type { OrderRefusal } from '../owner/index.ts';
import { systemClock, systemRandom } from '../system/index.ts';
import { asOwner, ownerOptions } from './owner-open.ts';
import type { Owner, OwnerFlags } from './owner-open.ts';
import { jsonLine, permissionJson, permissionLines, placeText, shortNonce } from './owner-text.ts';
import { usageVerb } from './owner-usage.ts';
import { watch } from './owner-watch.ts';
import { print, safe } from './print.ts';

interface OrderFlags extends OwnerFlags {
  readonly wait: number;
}

const DEFAULT_WAIT = '10s';
const MAX_WAIT_MS = 300_000;

export function ownerVerb(program: Command): void {
  const owner = program
    .command('owner')
    .description('watch agents as their owner, decide their permission requests, give them orders');
  ownerOptions(owner.command('watch').description('tell what agents do as it happens, until SIGINT or SIGTERM')).action(watch);
  ownerOptions(owner.command('pending').description('the permission requests that wait')).action(pending);
  for (const choice of ['approve', 'deny'] as const) {
    ordering(owner.command(choice).description(`${choice} a permission request that waits`))
      .argument('<nonce>', `the beginning of its nonce, at least ${MIN_PREFIX_CHARACTERS} characters, as pending and watch show it`, prefix)
      .action((nonce: string, flags: OrderFlags) => decideOne(choice, nonce, flags));
  }
  usageVerb(owner);
  ordering(owner.command('cancel').description('cancel the turn that an agent has in a channel'))
    .argument('<channel>', 'the id of the channel', channel)
    .action((channelId: ChannelId, flags: OrderFlags) => give({ type: 'cancel_turn', channelId }, flags));
  ordering(owner.command('model').description('switch the model of an agent\'s session in a channel'))
    .argument('<channel>', 'the id of the channel', channel)
    .argument('<id>', 'the id of the model, as the agent program calls it')
    .action((channelId: ChannelId, modelId: string, flags: OrderFlags) => {
      const requestId = Buffer.from(systemRandom.bytes(16)).toString('hex');
      return give({ type: 'switch_model', channelId, modelId, requestId }, flags);
    });
}

function ordering(command: Command): Command {
  return ownerOptions(command)
    .addOption(new Option('-w, --wait <duration>', 'how long to wait for the agent\'s answer').argParser(waiting).default(waiting(DEFAULT_WAIT), DEFAULT_WAIT));
}

function pending(flags: OwnerFlags): Promise<void> {
  return asOwner(flags, async ({ desk, nameOf }) => {
    const waiting = decidable(desk.view());
    if (flags.json === true) {
      for (const permission of waiting) print(jsonLine(permissionJson(permission, nameOf)));
    } else if (waiting.length === 0) {
      print('nothing waits');
    } else {
      for (const permission of waiting) for (const line of permissionLines(permission, nameOf, systemClock.now())) print(line);
    }
  });
}

function decideOne(choice: 'approve' | 'deny', nonce: string, flags: OrderFlags): Promise<void> {
  return asOwner(flags, async ({ desk, nameOf }) => {
    const decided = done(await decide(desk, { prefix: nonce, choice, waitMs: flags.wait }));
    const { permission, outcome, optionId } = decided;
    if (flags.json === true) {
      print(jsonLine({ decision: choice, outcome, optionId, ...permissionJson(permission, nameOf) }));
      return;
    }
    const word = choice === 'approve' ? 'approved' : 'denied';
    const reached = outcome === 'sent' ? 'the agent has it, and did not say yet what came of it' : 'the agent has taken it';
    print(`${word} ${shortNonce(permission.nonce)} of ${safe(nameOf(permission.agent))}: ${reached}`);
  });
}

type Order = Parameters<typeof order>[2];

function give(control: Order, flags: OrderFlags): Promise<void> {
  return asOwner(flags, async (owner) => {
    const agent = theOne(owner);
    const { status } = done(await order(owner.desk, agent, control, flags.wait));
    const name = owner.nameOf(agent);
    if (flags.json === true) print(jsonLine({ ...control, agent, name, status }));
    else print(`${safe(name)} in ${placeText(control.channelId)}: ${control.type} ${safe(status)}`);
  });
}

/** A channel may have several agents of one owner: an order is for one. */
function theOne({ desk, nameOf }: Owner): Pubkey {
  const agents = desk.agents();
  const [agent] = agents;
  if (agent !== undefined && agents.length === 1) return agent;
  const found = agents.length === 0 ? 'none is known' : `there are ${agents.map((one) => safe(nameOf(one))).join(', ')}`;
  throw new Failure('usage', `--agent: expected the one agent that this is for; ${found}`);
}

function done<T extends { readonly ok: true }>(result: T | OrderRefusal): T {
  if (result.ok) return result;
  throw new Failure(result.code === 'nothing' ? 'nothing_waits' : 'unanswered', safe(result.detail));
}

function prefix(text: string): string {
  if (text.length >= MIN_PREFIX_CHARACTERS && text.length <= 200) return text;
  throw new InvalidArgumentError(`expected at least ${MIN_PREFIX_CHARACTERS} characters of a nonce`);
}

function channel(text: string): ChannelId {
  const found = asChannelId(text.toLowerCase());
  if (found !== undefined) return found;
  throw new InvalidArgumentError('expected the whole id of a channel, a UUID, as skep owner watch --json tells it');
}

function waiting(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MAX_WAIT_MS) return ms;
  throw new InvalidArgumentError('expected a duration like 10s, at most 5m');
}
