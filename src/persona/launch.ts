/**
 * What an agent is started with: its own instructions and its teams' (NIP-AP "Launch composition", "Launch with
 * teams"), as two texts that the compiler takes as two. Pure. An invalid text is a refusal, never an older one; what is
 * not known (a relay or a key that did not answer) never comes here, because it is no fact.
 */
import { hash } from 'node:crypto';
import { refuse } from '../model/index.ts';
import type { EventId, Refusal } from '../model/index.ts';
import type { Definition } from './definition.ts';
import type { TeamId } from './team-id.ts';
import type { Version } from './version.ts';

export interface LaunchFacts {
  /** The current version of the agent's own instructions; undefined where it has none. */
  readonly version: Version | undefined;
  readonly template:
    | { readonly type: 'definition'; readonly systemPrompt: string | undefined; readonly head?: DefinitionHead }
    /** One is linked, and it is not there or cannot be read. */
    | { readonly type: 'definition_unusable'; readonly detail: string }
    /** None is linked: what the instance's own event says. */
    | { readonly type: 'legacy'; readonly systemPrompt: string | undefined };
  readonly teams: readonly TeamFacts[];
}

/** The definition that is linked, as it is now. */
export interface DefinitionHead {
  readonly id: EventId;
  readonly slug: string;
  readonly definition: Definition;
}

export interface TeamFacts {
  readonly id: TeamId;
  readonly name: string;
  /** Its current version; undefined where the relay says that it has none. */
  readonly version: Version | undefined;
  /** What its private record holds from before its first version. */
  readonly instructions: string | undefined;
}

/** Where a layer's text comes from. `none`: nothing gives one. An empty text of any source yields no layer either. */
export type OwnSource =
  | { readonly type: 'version'; readonly id: EventId }
  | { readonly type: 'definition' | 'legacy' | 'none' };

export interface Layers {
  readonly own: { readonly text: string; readonly source: OwnSource };
  /** `teams` are all that contributed; their texts were equal. */
  readonly team: { readonly text: string; readonly teams: readonly { readonly id: TeamId; readonly version?: EventId | undefined }[] };
}

export type LaunchRefusal = 'instructions_invalid' | 'definition_unusable' | 'team_instructions_invalid' | 'team_conflict';

/** The layers of a start, or why the agent is not started; a refusal of teams names them. */
export function composeLaunch(facts: LaunchFacts): { readonly ok: true; readonly layers: Layers } | Refusal<LaunchRefusal> {
  const own = ownLayer(facts);
  if (!own.ok) return own;
  const team = teamLayer(facts.teams);
  return team.ok ? { ok: true, layers: { own: own.layer, team: team.layer } } : team;
}

/** The first that exists; an empty version exists. */
function ownLayer({ version, template }: LaunchFacts): { readonly ok: true; readonly layer: Layers['own'] } | Refusal<LaunchRefusal> {
  if (version?.reading.status === 'invalid') return refuse('instructions_invalid', `instructions: version ${version.id} is invalid; ${version.reading.detail}`);
  if (version?.reading.status === 'valid') return { ok: true, layer: { text: version.reading.text, source: { type: 'version', id: version.id } } };
  if (template.type === 'definition_unusable') return refuse('definition_unusable', template.detail);
  const { type, systemPrompt } = template;
  return { ok: true, layer: { text: systemPrompt ?? '', source: { type: systemPrompt === undefined ? 'none' : type } } };
}

function teamLayer(teams: readonly TeamFacts[]): { readonly ok: true; readonly layer: Layers['team'] } | Refusal<LaunchRefusal> {
  const invalid = teams.filter(({ version }) => version?.reading.status === 'invalid');
  if (invalid.length > 0) return refuse('team_instructions_invalid', `teams: expected valid instructions, found invalid ones of ${namesOf(invalid)}`);
  const texts = teams.map(({ version, instructions = '' }) => trimmed(version?.reading.status === 'valid' ? version.reading.text : version === undefined ? instructions : ''));
  const [text = ''] = texts;
  if (texts.some((other) => other !== text)) return refuse('team_conflict', `teams: expected the same instructions, found different ones of ${namesOf(teams)}`);
  return { ok: true, layer: { text, teams: teams.map(({ id, version }) => ({ id, version: version?.id })) } };
}

function namesOf(teams: readonly TeamFacts[]): string {
  return teams.map(({ id, name }) => `${JSON.stringify(name)} (${id})`).join(', ');
}

const WHITE_SPACE = /\p{White_Space}/u;

/** Without Unicode white space at either end; loops, because a pattern takes quadratic time on a long run inside. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && WHITE_SPACE.test(text.charAt(start))) start += 1;
  while (end > start && WHITE_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** What the operator of this machine puts in place of a resolved text; `source` says where, for the owner to see. */
export interface Override {
  readonly text: string;
  readonly source: string;
}

export interface Delivery {
  /** For the compiler's `standing`: `system` first, `teamInstructions` after it. Absent where there is nothing to say. */
  readonly standing: { readonly system?: string; readonly teamInstructions?: string };
  readonly own: Delivered;
  readonly team: Delivered;
}

/** `sha256` is that of the text as it was handed over, undefined for none. */
export interface Delivered {
  readonly sha256: string | undefined;
  readonly override: string | undefined;
}

/** The two texts after any override of this machine, and what a launch record says of them. */
export function deliver({ own, team }: Layers, overrides: { readonly own?: Override; readonly team?: Override } = {}): Delivery {
  const [system, teamInstructions] = [overrides.own?.text ?? own.text, overrides.team?.text ?? team.text];
  return {
    standing: { ...(system === '' ? {} : { system }), ...(teamInstructions === '' ? {} : { teamInstructions }) },
    own: delivered(system, overrides.own),
    team: delivered(teamInstructions, overrides.team),
  };
}

function delivered(text: string, override: Override | undefined): Delivered {
  return { sha256: text === '' ? undefined : hash('sha256', text, 'hex'), override: override?.source };
}
