/**
 * `agents.update` (NIP-BA "Managed agents"): changes the record, in one commit with the result. A patch that says what
 * is so already succeeds and changes nothing. The running agent is told afterwards.
 */
import type { Held, ManagedRecord, ManagedSettings } from '../managed/index.ts';
import { patchSettings } from '../managed/index.ts';
import type { Args, Outcome } from '../wire/index.ts';
import type { Plan } from './action.ts';
import { choiceRefusal, isRefusal, runtimeOf, targetOf, whileHeld } from './managed.ts';

export const planUpdate: Plan<'agents.update'> = (args, context) =>
  whileHeld(context, (held) => {
    const record = targetOf(args.target, held);
    if (isRefusal(record)) return record;
    const refusal = choiceRefusal(args, held);
    if (refusal !== undefined) return refusal;
    const { settings, updatedFields } = patched(record, args, held);
    const outcome = { agentPubkey: record.pubkey, displayName: settings.displayName, updatedFields };
    return {
      type: 'answer',
      verdict: { status: 'succeeded', action: 'agents.update', outcome },
      // Also for no change at all: whether the requester still may is then asked at the same moment.
      writes: updatedFields.length === 0 ? [] : [patchSettings(record.pubkey, settings)],
      release: held.release,
    };
  });

type UpdatedFields = Outcome<'agents.update'>['updatedFields'];

interface Patched {
  readonly settings: ManagedSettings;
  readonly updatedFields: UpdatedFields;
}

/** Lexicographic, without duplicates, and only what is another than before. */
function patched(record: ManagedRecord, args: Args<'agents.update'>, held: Held): Patched {
  const { displayName = record.displayName, systemPrompt = record.systemPrompt, respondTo = record.respondTo } = args;
  const isOtherRuntime = args.runtime !== undefined && args.runtime !== runtimeOf(record, held);
  const runtime = isOtherRuntime ? args.runtime : record.runtime;
  const updatedFields: UpdatedFields = [
    ...(displayName === record.displayName ? [] : (['displayName'] as const)),
    ...(respondTo === record.respondTo ? [] : (['respondTo'] as const)),
    ...(isOtherRuntime ? (['runtime'] as const) : []),
    ...(systemPrompt === record.systemPrompt ? [] : (['systemPrompt'] as const)),
  ];
  return { settings: { displayName, systemPrompt, respondTo, ...(runtime === undefined ? {} : { runtime }) }, updatedFields };
}
