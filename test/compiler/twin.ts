/**
 * The compiler once more, slow and plain: written from the rules alone, scalar by scalar, sharing nothing with it but
 * the types. Where the two disagree, one of them has misread a rule.
 */
import { createHash } from 'node:crypto';
import type { TriggeredEvent, TurnInput } from '../../compiler/index.ts';

/** Scalars of `text`, a lone surrogate being U+FFFD. */
function scalars(text: string): string[] {
  return Array.from(text, (scalar) => (scalar.length === 1 && scalar >= '\ud800' && scalar <= '\udfff' ? '\ufffd' : scalar));
}

const WHITE = new Set(
  [
    9, 10, 11, 12, 13, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
    0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
  ].map((point) => String.fromCodePoint(point)),
);

function strip(list: string[], drop: (scalar: string) => boolean, sides: 'both' | 'end'): string[] {
  const rest = [...list];
  while (rest.length > 0 && drop(rest.at(-1) ?? '')) rest.pop();
  while (sides === 'both' && rest.length > 0 && drop(rest[0] ?? '')) rest.shift();
  return rest;
}

const white = (scalar: string): boolean => WHITE.has(scalar);
const lineBreak = (scalar: string): boolean => scalar === '\n' || scalar === '\r';
const blank = (text: string): boolean => scalars(text).every(white);

const IN_TEXT = new Map([['&', '&amp;'], ['<', '&lt;'], ['>', '&gt;']]);
const IN_ATTRIBUTE = new Map([...IN_TEXT, ['"', '&quot;'], ["'", '&apos;'], ['\n', ' '], ['\r', ' '], ['\t', ' ']]);

function escaped(text: string, inAttribute: boolean): string {
  const table = inAttribute ? IN_ATTRIBUTE : IN_TEXT;
  return scalars(text)
    .map((scalar) => table.get(scalar) ?? scalar)
    .join('');
}

function nameOf(input: TurnInput, who: string): string {
  const found = Object.entries(input.profiles ?? {}).find(([key]) => key === who.toLowerCase());
  for (const name of [found?.[1].displayName, found?.[1].nip05]) {
    const kept = strip(scalars(name ?? ''), white, 'both').filter((scalar) => {
      const point = scalar.codePointAt(0) ?? 0;
      const control = point < 0x20 || (point >= 0x7f && point <= 0x9f);
      return !control && !(point >= 0x202a && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069);
    });
    if (kept.length > 0) return kept.slice(0, 64).join('');
  }
  return '';
}

function isAgent(input: TurnInput, who: string): boolean {
  return Object.entries(input.profiles ?? {}).some(
    ([key, { isAgent: agent }]) => key === who.toLowerCase() && agent === true,
  );
}

function links(entry: TriggeredEvent): { root: string; parent: string } {
  const of = (marker: string): string =>
    entry.event.tags
      .filter((tag) => tag.length >= 4 && tag[0] === 'e' && tag[3] === marker && /^[0-9a-fA-F]{64}$/.test(tag[1] ?? ''))
      .map((tag) => (tag[1] ?? '').toLowerCase())
      .pop() ?? '';
  const parent = of('reply');
  if (parent === '') return { root: '', parent: '' };
  return { root: of('root') === '' ? parent : of('root'), parent };
}

const mentioned = (entry: TriggeredEvent): string[] =>
  entry.event.tags.filter((tag) => tag[0] === 'p' && tag.length > 1).map((tag) => scalars(tag[1] ?? '').join(''));

function block(input: TurnInput, entry: TriggeredEvent): string {
  const { root, parent } = links(entry);
  let type = entry.rule;
  while (type.startsWith('@')) type = type.slice(1);
  const author = nameOf(input, entry.event.pubkey);
  const names = mentioned(entry).map((who) => (nameOf(input, who) === '' ? who : `${nameOf(input, who)} (${who})`));
  let line = `<event type="${escaped(type, true)}"`;
  if (author !== '') line += ` author="${escaped(author, true)}"`;
  line += ` actor="${entry.event.pubkey}" event_id="${entry.event.id}"`;
  if (parent !== root) line += ` parent="${parent}"`;
  if (root !== '') line += ` thread_root="${root}"`;
  if (names.length > 0) line += ` mentions="${escaped(names.join(', '), true)}"`;
  return `${line}>\nContent: ${escaped(entry.event.content, false)}\n</event>`;
}

const sha = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

/** A layer, fixed members first as one text: order, layer, scope, source, authority, freshness. */
type Row = readonly [fixed: string, content: string, version?: string | undefined, truncated?: boolean | undefined];

/** What the rules say of one turn, before it is put together. */
interface Rendered {
  readonly envelope: string;
  readonly standing: string;
  readonly instruction: string;
  readonly delivery: string;
  readonly rows: readonly Row[];
}

function render(input: TurnInput): Rendered {
  const last = input.events[input.events.length - 1];
  if (last === undefined) throw new Error('no event');
  const { root } = links(last);
  const scope = input.channel?.type === 'dm' ? 'dm' : root === '' ? 'channel' : 'thread';

  let status = `Scope: ${scope}`;
  if (input.history === undefined || input.history.truncated) {
    const state = input.history ? 'truncated' : input.historyDelivered === true ? 'already delivered' : 'not loaded';
    status += `\nHistory: ${state}; retrieve: channel.read channelId=${input.channelId}`;
    if (scope === 'thread') status += ` rootEventId=${root}`;
  }

  let snapshot = '';
  let cut = false;
  if (input.channel) {
    snapshot = `Channel: ${escaped(input.channel.name, false)}`;
    const lines = scalars(input.channel.description ?? '')
      .join('')
      .replaceAll('\r', '\n')
      .split('\n');
    const one = lines
      .map((line) => strip(scalars(line), white, 'both').join(''))
      .filter((line) => line !== '')
      .join(' ');
    if (scope !== 'dm' && one !== '') {
      cut = scalars(one).length > 500;
      snapshot += `\nDescription: ${escaped(scalars(one).slice(0, 500).join(''), false)}${cut ? '\u2026' : ''}`;
    }
  }

  let delta = '';
  if (input.history) {
    const { messages, total, truncated } = input.history;
    delta = `<recent-thread-delta included="${messages.length}" total="${total}" truncated="${truncated}">\n`;
    for (const { pubkey, content } of messages) {
      const speaker = nameOf(input, pubkey) === '' ? pubkey : nameOf(input, pubkey);
      delta += `${escaped(speaker, false)}: ${escaped(content, false)}\n`;
    }
    delta += '</recent-thread-delta>';
  }

  let cutShort = '';
  if (input.interrupted) {
    const end = input.interrupted.mode === 'interrupt' ? 'superseded' : 'continue_prior_work';
    const inner = input.interrupted.events.map((entry) => block(input, entry)).join('\n');
    cutShort = `<interrupted-turn disposition="${end}">\n${inner}\n</interrupted-turn>`;
  }

  const instruction = input.events.map((entry) => block(input, entry)).join('\n');
  const human = [last.event.pubkey, ...mentioned(last)].some((who) => !isAgent(input, who));
  let anchor = human ? (root === '' ? last.event.id : root) : '';
  if (scope === 'dm') anchor = root === '' ? '' : last.event.id;
  let delivery = `<delivery channel_id="${input.channelId}" scope="${scope}"`;
  if (anchor !== '') delivery += ` reply_to="${anchor}"`;
  if (input.interrupted) {
    delivery += ` merge_disposition="${input.interrupted.mode === 'interrupt' ? 'supersede' : 'continue'}_prior_work"`;
  }
  delivery += ' />';

  const ambient = [status, snapshot, delta, cutShort].filter((fragment) => fragment !== '').join('\n');
  const opening = `<buzz-turn>\n<ambient-context>\n${ambient}\n</ambient-context>\n`;
  const envelope = `${opening}${instruction}\n${delivery}\n</buzz-turn>`;

  const given = (text: string | undefined): string => scalars(text ?? '').join('');
  const trimmed = (text: string | undefined): string => strip(scalars(text ?? ''), white, 'both').join('');
  const { workspace, base, system, teamInstructions, coreMemory, huddleInstructions, channelCanvas } =
    input.standing ?? {};
  const section = (tag: string, text: string | undefined, keep: (list: string[]) => string[]): string =>
    blank(text ?? '') ? '' : `<${tag}>\n${escaped(keep(scalars(text ?? '')).join(''), false)}\n</${tag}>`;
  const edges = (list: string[]): string[] => strip(list, lineBreak, 'both');
  const standing = [
    section('workspace', workspace, edges),
    section('base', base, (list) => edges(strip(list, white, 'end'))),
    section('system', system, edges),
    section('team-instructions', teamInstructions, (list) => strip(list, white, 'both')),
    section('core-memory', coreMemory, edges),
    section('huddle-instructions', huddleInstructions, (list) => strip(list, white, 'both')),
    section('channel-canvas', channelCanvas, edges),
  ]
    .filter((text) => text !== '')
    .join('\n\n');

  const guidance = [system, teamInstructions, huddleInstructions]
    .map(trimmed)
    .filter((text) => text !== '')
    .join('\n\n');
  const headOf = (scopeOfIt: string): string =>
    JSON.stringify({
      messages: (input.history?.messages ?? []).map((each) => [
        each.eventId,
        each.pubkey,
        each.timestamp,
        given(each.content),
      ]),
      scope: scopeOfIt,
      total: input.history?.total,
      truncated: input.history?.truncated,
    });
  const rows: readonly Row[] = [
    ['1 platform_contract runtime base_prompt instructions configured', given(base)],
    ['2 persona_and_team_guidance agent_community agent_configuration instructions configured', guidance],
    ['3 core_memory agent_owner core_engram advisory_context session_start', given(coreMemory)],
    ['4 channel_snapshot channel channel_metadata shared_evidence cached', snapshot, undefined, cut],
    ['4 channel_canvas channel channel_canvas shared_evidence session_start', given(channelCanvas)],
    ['6 context_status turn delivery_state evidence current', status],
    [
      `6 recent_thread_delta ${input.history?.scope ?? ''} relay_events evidence current`,
      delta,
      sha(headOf(input.history?.scope ?? '')),
      input.history?.truncated,
    ],
    ['6 interrupted_turn thread cancelled_events evidence current', cutShort],
    [
      '7 current_instruction turn nostr_event authoritative current',
      instruction,
      input.events.length === 1 ? last.event.id : undefined,
    ],
    ['8 delivery_contract turn buzz_routing routing_constraint current', delivery],
  ];
  return { envelope, standing, instruction, delivery, rows };
}

/** The rows as layers, each as its JSON. */
function layersOf(rows: readonly Row[]): string[] {
  return rows
    .filter(([, content]) => !blank(content))
    .map(([fixed, content, version, truncated]) => {
      const [order, layer, scope, source, authority, freshness] = fixed.split(' ');
      const tokens = Math.floor((scalars(content).length + 3) / 4);
      return (
        `{"order":${order},"layer":"${layer}","scope":"${scope}","source":"${source}",` +
        `"version":"${version ?? sha(content)}","authority":"${authority}","freshness":"${freshness}",` +
        `"estimatedTokens":${tokens},"truncated":${truncated ?? false}}`
      );
    });
}

/** The manifest of layers as JSON: for each order from the first to the last, those that have it. */
function manifestOf(layers: readonly string[]): string {
  const sorted = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((order) =>
    layers.filter((layer) => layer.startsWith(`{"order":${order},`)),
  );
  return `{"schemaVersion":1,"hash":"${sha(`[${sorted.join(',')}]`)}","layers":[${sorted.join(',')}]}`;
}

const GUIDANCE =
  '<continuation-guidance>This message arrived while you were working. Weave it into the work in hand and carry on; ' +
  'do not start again.</continuation-guidance>';

/** What the rules say of one turn: each of the compiler's outputs as JSON. */
export interface Twin {
  readonly compiled: string;
  readonly steer: string;
  /** The manifest of its ledger after it was injected twice as a steer of itself. */
  readonly ledger: string;
}

export function twinOf(input: TurnInput): Twin {
  const { envelope, standing, instruction, delivery, rows } = render(input);
  const layers = layersOf(rows);
  const system = input.standingRole === 'system' && standing !== '' ? `"system":${JSON.stringify(standing)},` : '';
  const blocks = input.standingRole === 'prompt' && standing !== '' ? [standing, envelope] : [envelope];
  const steerLayers = layersOf([
    ...rows.filter(([fixed]) => /^(?:7 current_instruction|8 delivery_contract) /.test(fixed)),
    ['8 steer_delivery_contract turn steer_framing routing_constraint current', GUIDANCE],
  ]);
  const update = `<buzz-turn-update mode="steer">\n${instruction}\n${delivery}\n${GUIDANCE}\n</buzz-turn-update>`;
  return {
    compiled:
      `{"v":1,${system}"blocks":${JSON.stringify(blocks)},"envelope":${JSON.stringify(envelope)},` +
      `"manifest":${manifestOf(layers)}}`,
    steer: `{"text":${JSON.stringify(update)},"layers":[${steerLayers.join(',')}]}`,
    ledger: manifestOf([...layers, ...steerLayers, ...steerLayers]),
  };
}
