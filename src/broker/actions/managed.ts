/**
 * What the three actions on managed agents share (NIP-BA "Managed agents"): their turn at the records, whom a target
 * means, and which choices this host has. A target is looked for among what the requester has made, and nowhere else.
 */
import type { Held, ManagedRecord } from '../managed/index.ts';
import type { Args } from '../wire/index.ts';
import { refused } from './action.ts';
import type { ActionContext, Refused } from './action.ts';

const BUSY = 'another operation on these agents is still under way; nothing was done';
const ORPHAN = 'this agent may not have agents of its own';

/** Decides while the records are held; whoever goes on takes `release` along, a refusal lets them go. */
export async function whileHeld<Decided extends { readonly type: string }>(
  { agent, managed }: Pick<ActionContext, 'agent' | 'managed'>,
  decide: (held: Held) => Decided | Refused,
): Promise<Decided | Refused> {
  const held = await managed.hold(agent);
  if (held === 'busy') return refused('internal', BUSY);
  if (held === 'orphan' || held.lineage.root.runtimes === undefined) {
    if (held !== 'orphan') held.release();
    return refused('unauthorized', ORPHAN);
  }
  try {
    const decided = decide(held);
    if (decided.type === 'refuse') held.release();
    return decided;
  } catch (error) {
    held.release();
    throw error;
  }
}

/** The one live agent that is meant. Another's is answered like one that does not exist. */
export function targetOf(target: Args<'agents.delete'>['target'], { own }: Held): ManagedRecord | Refused {
  const live = own.filter(({ status }) => status === 'live');
  const meant = live.filter((record) => ('pubkey' in target ? record.pubkey === target.pubkey : record.displayName === target.name));
  const [record] = meant;
  if (record === undefined) return refused('action_failed', 'target: this agent has made no such agent');
  if (meant.length > 1) return refused('action_failed', `target: ${meant.length} agents have this name; name one by its pubkey`);
  return record;
}

/** Unknown choices are refused, never replaced. Provider and model are the program's own here: there is no choice. */
export function choiceRefusal(
  { runtime, provider, model }: Pick<Args<'agents.create'>, 'runtime' | 'provider' | 'model'>,
  { lineage: { root } }: Held,
): Refused | undefined {
  if (provider !== undefined) return refused('action_failed', 'provider: this host offers no choice of it');
  if (model !== undefined) return refused('action_failed', 'model: this host offers no choice of it');
  const runtimes = root.runtimes ?? [];
  if (runtime === undefined || runtimes.includes(runtime)) return undefined;
  return refused('action_failed', `runtime: expected ${runtimes.join(' or ')}`);
}

/** How many agents deep a chain may be, a configured agent counted: what it made, and what that made. */
export const MAX_DEPTH = 3;
/** Agents that one person's agents may have made at a time, all in all: each is a program that runs. */
export const MAX_MANAGED = 16;

export function isRefusal(value: ManagedRecord | Refused): value is Refused {
  return 'type' in value;
}

/** The name of a choice that is in force, also where nobody made one. */
export function runtimeOf({ runtime }: Pick<ManagedRecord, 'runtime'>, { lineage: { root } }: Held): string | undefined {
  return runtime ?? root.runtimes?.[0];
}
