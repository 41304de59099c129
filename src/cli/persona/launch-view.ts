/** The plan of a start as lines for people and as JSON: for each layer where it comes from, its size and its hash. Pure. */
import type { AgentConfig } from '../../config/index.ts';
import { excerpt, shortId, unreachable } from '../../model/index.ts';
import type { Refusal } from '../../model/index.ts';
import { toNpub } from '../../nostr/index.ts';
import type { LaunchPlan, TeamFacts } from '../../persona/index.ts';
import { MAX_MEND } from '../doctor/finding.ts';
import type { Finding } from '../doctor/finding.ts';
import { plural, safe } from '../print.ts';
import { textJson } from './saving.ts';

export interface PlanView {
  readonly agent: AgentConfig;
  readonly program: Finding;
  readonly said:
    /** The config says all, and the relay is not asked. */
    | { readonly by: 'config' }
    | { readonly by: 'relay'; readonly plan: LaunchPlan }
    | { readonly by: 'nobody'; readonly refusal: Refusal; readonly teams: readonly TeamFacts[] };
}

/** Scalars of a reason: it names teams. */
const MAX_REASON = 1_000;

type Size = ReturnType<typeof textJson>;

interface Layer {
  readonly source: 'version' | 'definition' | 'legacy' | 'none' | 'config' | 'teams';
  readonly version: string | null;
  /** As the source has it; null for no text. */
  readonly resolved: Size;
  /** What stands in its place by the word of this machine. */
  readonly override: string | null;
  /** As it is handed over. */
  readonly delivered: Size;
}

export function doesStart({ program, said }: PlanView): boolean {
  return said.by !== 'nobody' && program.is !== 'problem';
}

export function planJson(view: PlanView): object {
  const { agent, program, said } = view;
  const layers = layersOf(agent, said);
  const plan = said.by === 'relay' ? said.plan : undefined;
  return {
    agent: agent.pubkey, name: agent.name, starts: doesStart(view),
    refusal: said.by === 'nobody' ? { code: said.refusal.code, detail: said.refusal.detail } : null,
    own: layers?.own ?? null, team: layers?.team ?? null,
    teams: teamsOf(said).map((team) => ({ id: team.id, name: team.name, version: team.version?.id ?? null, ...textJson(textOf(team)), fault: faultOf(team) ?? null })),
    deletedTeams: plan?.deletedTeams ?? [],
    definition: plan?.definition === undefined ? null : { slug: plan.definition.slug, event: plan.definition.id },
    session: sessionOf(agent, said) ?? null,
    model: modelOf(agent, said) ?? null,
    adapter: { name: agent.adapter.name, there: program.is !== 'problem', what: program.what, mend: program.mend ?? null },
  };
}

export function planLines(view: PlanView): readonly string[] {
  const { agent, program, said } = view;
  const layers = layersOf(agent, said);
  const session = sessionOf(agent, said);
  const model = modelOf(agent, said);
  // A version holds without its definition; what the definition alone says does not.
  const unsaid = said.by === 'relay' && said.plan.definition === undefined ? agent.launch?.persona : undefined;
  const deleted = said.by === 'relay' ? said.plan.deletedTeams : [];
  return [
    `${agent.name}  ${toNpub(agent.pubkey)}`,
    ...(said.by === 'nobody' && said.teams.length > 0 ? ['  teams'] : []),
    ...(layers === undefined ? [] : [...layerLines('own', ownText(layers.own, said), layers.own), ...layerLines('team', teamText(teamsOf(said)), layers.team)]),
    ...teamsOf(said).map((team) => `           ${safe(team.name)} (${safe(team.id)}): ${faultOf(team) ?? `${team.version === undefined ? 'no version' : `version ${shortId(team.version.id)}`}, ${sizeText(textJson(textOf(team)))}`}`),
    ...deleted.map((id) => `           ${safe(id)} is deleted: it says nothing`),
    ...(session === undefined ? [] : [`  session  ${session}${unsaid === undefined ? '' : `: its persona ${unsaid} is not on the relay, or cannot be read`}`]),
    ...(model === undefined || model.delivered === null ? [] : [`  model    ${safe(model.delivered)}, ${modelText(model)}`]),
    `  adapter  ${agent.adapter.name}: ${safe(program.what)}`,
    ...(program.mend === undefined ? [] : [`           → ${excerpt(program.mend, MAX_MEND)}`]),
    doesStart(view) ? 'would start' : `would not start: ${said.by === 'nobody' ? excerpt(said.refusal.detail, MAX_REASON) : safe(program.what)}`,
  ];
}

/** Undefined where the start is refused: no text would be handed over. */
function layersOf({ instructions }: AgentConfig, said: PlanView['said']): { readonly own: Layer; readonly team: Layer } | undefined {
  switch (said.by) {
    case 'config':
      return {
        own: { source: instructions === undefined ? 'none' : 'config', version: null, resolved: sizeOf(instructions), override: null, delivered: sizeOf(instructions) },
        team: { source: 'none', version: null, resolved: sizeOf(undefined), override: null, delivered: sizeOf(undefined) },
      };
    case 'relay': {
      const { layers: { own, team }, delivery } = said.plan;
      const { standing } = delivery;
      return {
        own: {
          source: own.source.type, version: own.source.type === 'version' ? own.source.id : null, resolved: sizeOf(own.text),
          override: delivery.own.override ?? null, delivered: sizeOf(standing.system),
        },
        team: {
          source: team.teams.length === 0 ? 'none' : 'teams', version: null, resolved: sizeOf(team.text),
          override: delivery.team.override ?? null, delivered: sizeOf(standing.teamInstructions),
        },
      };
    }
    case 'nobody':
      return undefined;
    default:
      return unreachable(said);
  }
}

function layerLines(name: string, from: string, { resolved, override, delivered }: Layer): readonly string[] {
  return [
    `  ${name.padEnd(7)}  ${from}, ${sizeText(resolved)}`,
    ...(override === null ? [] : [`           in its place ${override}, ${sizeText(delivered)}`]),
  ];
}

function ownText({ source, version }: Layer, said: PlanView['said']): string {
  switch (source) {
    case 'version':
      return `version ${shortId(version ?? '')} of its instructions`;
    case 'definition':
      return `persona ${said.by === 'relay' ? said.plan.definition?.slug ?? '' : ''}`;
    case 'legacy':
      return 'its instance on the relay';
    case 'config':
      return 'skep.yaml';
    case 'none':
    case 'teams':
      return 'nothing says any';
    default:
      return unreachable(source);
  }
}

function teamText(teams: readonly TeamFacts[]): string {
  if (teams.length === 0) return 'it is in no team';
  return teams.length === 1 ? 'its team' : `${plural(teams.length, 'team')} that say the same`;
}

function teamsOf(said: PlanView['said']): readonly TeamFacts[] {
  switch (said.by) {
    case 'relay':
      return said.plan.teams;
    case 'nobody':
      return said.teams;
    case 'config':
      return [];
    default:
      return unreachable(said);
  }
}

function sessionOf({ session }: AgentConfig, said: PlanView['said']): string | undefined {
  switch (said.by) {
    case 'relay':
      return said.plan.sessionPolicy;
    case 'config':
      return session;
    case 'nobody':
      return undefined;
    default:
      return unreachable(said);
  }
}

interface ModelView {
  readonly source: 'definition' | 'legacy' | 'config' | 'none';
  readonly resolved: string | null;
  readonly override: string | null;
  readonly delivered: string | null;
}

/** Undefined where the start is refused. */
function modelOf({ wished: { model } }: AgentConfig, said: PlanView['said']): ModelView | undefined {
  switch (said.by) {
    case 'relay': {
      const { source, resolved = null, override = null, delivered = null } = said.plan.model;
      return { source, resolved, override, delivered };
    }
    case 'config':
      return { source: model === undefined ? 'none' : 'config', resolved: model ?? null, override: null, delivered: model ?? null };
    case 'nobody':
      return undefined;
    default:
      return unreachable(said);
  }
}

function modelText({ source, resolved, override }: ModelView): string {
  const from = { definition: 'of its persona', legacy: 'of its instance on the relay', config: 'of skep.yaml', none: '' }[source];
  if (override === null) return from;
  return resolved === null ? override : `${override} in the place of ${safe(resolved)} ${from}`;
}

function textOf({ version, instructions = '' }: TeamFacts): string | undefined {
  if (version === undefined) return instructions;
  return version.reading.status === 'valid' ? version.reading.text : undefined;
}

function faultOf({ version }: TeamFacts): string | undefined {
  return version?.reading.status === 'invalid' ? `version ${shortId(version.id)} is invalid: ${version.reading.fault}` : undefined;
}

/** An empty text is not handed over: it is none. */
function sizeOf(text: string | undefined): Size {
  return textJson(text === '' ? undefined : text);
}

function sizeText({ bytes, sha256 }: Size): string {
  return bytes === null || sha256 === null ? 'no text' : `${plural(bytes, 'byte')}, sha256 ${sha256.slice(0, 12)}`;
}
