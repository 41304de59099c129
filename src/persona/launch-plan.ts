/**
 * What an agent would be started with now, from what a machine is told and what the relay says: the facts, the layers, and
 * the texts as they would be handed over. The same for a start and for a dry run of one.
 */
import { refuse } from '../model/index.ts';
import type { Pubkey, Refusal } from '../model/index.ts';
import type { SessionPolicy } from './definition.ts';
import { readInstance, resolveModel } from './instance.ts';
import { PERSONA_KIND } from './kinds.ts';
import { headOf, launchFacts } from './launch-facts.ts';
import type { FactsRefusal, Linked } from './launch-facts.ts';
import { composeLaunch, deliver } from './launch.ts';
import type { DefinitionHead, Delivery, LaunchRefusal, Layers, Override, TeamFacts } from './launch.ts';
import type { ReadingPorts } from './ports.ts';
import type { TeamId } from './team-id.ts';

export interface LaunchOrder {
  readonly agent: Pubkey;
  /** The slug of its definition; undefined: its own event (kind 30177) says. */
  readonly persona: string | undefined;
  /** Teams by the word of this machine, beside those whose records name the agent. */
  readonly teams: readonly TeamId[];
  readonly overrides: { readonly own?: Override; readonly team?: Override; readonly model?: Override };
}

export interface LaunchPlan {
  readonly layers: Layers;
  readonly delivery: Delivery;
  /** Undefined without a linked one, and where a version holds although it cannot be read. */
  readonly definition: DefinitionHead | undefined;
  /** The definition's; `channel` without one. */
  readonly sessionPolicy: SessionPolicy;
  readonly model: ModelChoice;
  readonly teams: readonly TeamFacts[];
  /** Teams of the order that were deleted: they count no longer. */
  readonly deletedTeams: readonly TeamId[];
}

/** An empty id says none; without one it is the program's own. */
interface ModelChoice {
  readonly source: 'definition' | 'legacy' | 'none';
  /** By the owner's word. */
  readonly resolved: string | undefined;
  /** Where it comes from what stands in its place. */
  readonly override: string | undefined;
  readonly delivered: string | undefined;
}

/** `unavailable`: a relay or a signer did not answer, and nothing is known. Everything else is the owner's to mend. */
export type LaunchPlanning = { readonly ok: true; readonly plan: LaunchPlan } | Refusal<FactsRefusal | LaunchRefusal>;

export async function planLaunch(
  ports: ReadingPorts, { agent, persona, teams, overrides }: LaunchOrder,
): Promise<LaunchPlanning> {
  const linked = persona === undefined ? await linkOf(ports, agent) : { ok: true, linked: { agent, definitionId: persona, own: {} } } as const;
  if (!linked.ok) return linked;
  const found = await launchFacts(ports, linked.linked, teams);
  if (!found.ok) return found;
  const { facts, deletedTeams } = found;
  const composed = composeLaunch(facts);
  if (!composed.ok) return composed;
  const { layers } = composed;
  const definition = facts.template.type === 'definition' ? facts.template.head : undefined;
  return {
    ok: true,
    plan: {
      layers, delivery: deliver(layers, overrides), definition, sessionPolicy: definition?.definition.sessionPolicy ?? 'channel',
      model: chooseModel(linked.linked, definition, overrides.model), teams: facts.teams, deletedTeams,
    },
  };
}

function chooseModel(linked: Linked, head: DefinitionHead | undefined, override: Override | undefined): ModelChoice {
  const { model = '' } = resolveModel(linked, head?.definition);
  const resolved = model === '' ? undefined : model;
  const source = resolved === undefined ? 'none' : head?.definition.model === undefined ? 'legacy' : 'definition';
  return { source, resolved, override: override?.source, delivered: override?.text ?? resolved };
}

/** What the agent's own event says that it is made of; without one, of nothing. */
export async function linkOf(
  { key, relay }: ReadingPorts, agent: Pubkey,
): Promise<{ readonly ok: true; readonly linked: Linked } | Refusal<'unavailable' | 'content'>> {
  const head = await headOf(relay, { kind: PERSONA_KIND.instance, author: key.pubkey, d: agent });
  if (!head.ok) return head;
  if (head.value === undefined) return { ok: true, linked: { agent, own: {} } };
  const reading = readInstance(head.value);
  return reading.ok ? { ok: true, linked: reading.instance } : refuse('content', `instance: ${reading.detail}`);
}
