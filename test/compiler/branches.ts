/**
 * Every case that the rules tell apart, as a question to a turn. A generator that never asks one of them proves
 * nothing of it, so the twin counts how often each was met.
 */
import type { Profile, TriggeredEvent, TurnInput } from '../../compiler/index.ts';

const HEX = /^[0-9a-f]{64}$/i;
const JS_BLANK = /^[\s\u0085]*$/;

const last = ({ events }: TurnInput): TriggeredEvent | undefined => events.at(-1);
const shown = (input: TurnInput): readonly TriggeredEvent[] => [...input.events, ...(input.interrupted?.events ?? [])];

/** The markers of the `e` tags that count. */
function markersOf(entry: TriggeredEvent | undefined): readonly string[] {
  return (entry?.event.tags ?? [])
    .filter((tag) => tag[0] === 'e' && tag.length >= 4 && HEX.test(tag[1] ?? '') && /^(?:root|reply)$/.test(tag[3] ?? ''))
    .map((tag) => tag[3] ?? '');
}

const threaded = (input: TurnInput): boolean => markersOf(last(input)).includes('reply');
const isDm = (input: TurnInput): boolean => input.channel?.type === 'dm';

/** Whether a tag of an event that is shown passes. */
const tagged = (input: TurnInput, test: (tag: readonly string[]) => boolean): boolean =>
  shown(input).some(({ event }) => event.tags.some(test));

const idsOf = (entry: TriggeredEvent, marker: string): readonly string[] =>
  entry.event.tags
    .filter((tag) => tag[0] === 'e' && tag[3] === marker && HEX.test(tag[1] ?? ''))
    .map((tag) => (tag[1] ?? '').toLowerCase());

const mentionsOf = (entry: TriggeredEvent | undefined): readonly string[] =>
  (entry?.event.tags ?? []).filter((tag) => tag[0] === 'p' && tag.length > 1).map((tag) => tag[1] ?? '');

const profileOf = (input: TurnInput, key: string): Profile | undefined =>
  new Map(Object.entries(input.profiles ?? {})).get(key.toLowerCase());
const isAgent = (input: TurnInput, key: string): boolean => profileOf(input, key)?.isAgent === true;
const agentSpeaks = (input: TurnInput): boolean => isAgent(input, last(input)?.event.pubkey ?? '');

/** Whether the profile of somebody who speaks passes. */
const speaker = (input: TurnInput, test: (profile: Profile) => boolean): boolean =>
  shown(input).some(({ event }) => {
    const profile = profileOf(input, event.pubkey);
    return profile !== undefined && test(profile);
  });

const lengthOf = (text: string | undefined): number => Array.from(text ?? '').length;

/** The scalars of a description of one line, no white space around it. */
const plainDescription = ({ channel }: TurnInput): number =>
  channel === undefined || channel.type === 'dm' || /[\r\n]|^[\s\u0085]|[\s\u0085]$/.test(channel.description ?? '')
    ? -1
    : lengthOf(channel.description);

const textsOf = (input: TurnInput): readonly string[] => [
  ...shown(input).flatMap(({ event, rule }) => [event.content, rule, ...event.tags.flat()]),
  ...(input.history?.messages.map(({ content }) => content) ?? []),
  ...Object.values(input.standing ?? {}).filter((text) => typeof text === 'string'),
  input.channel?.name ?? '',
  input.channel?.description ?? '',
];
const holds = (input: TurnInput, pattern: RegExp): boolean => textsOf(input).some((text) => pattern.test(text));

type Branch = (input: TurnInput) => boolean;

/** Each case by its name. */
export const BRANCHES: Readonly<Record<string, Branch>> = {
  'scope channel': (input) => !isDm(input) && !threaded(input),
  'scope thread': (input) => !isDm(input) && threaded(input),
  'a DM at top level': (input) => isDm(input) && !threaded(input),
  'a DM in a thread': (input) => isDm(input) && threaded(input),
  'a channel type in upper case': ({ channel }) => channel?.type === 'DM',
  'channel not known': ({ channel }) => channel === undefined,
  'the last event decides': (input) => threaded(input) !== markersOf(input.events[0]).includes('reply'),

  'history absent, not delivered': ({ history, historyDelivered }) => !history && historyDelivered !== true,
  'history absent, delivered': ({ history, historyDelivered }) => !history && historyDelivered === true,
  'history truncated, delivered too': ({ history, historyDelivered }) =>
    history?.truncated === true && historyDelivered === true,
  'history truncated in a thread': (input) => input.history?.truncated === true && !isDm(input) && threaded(input),
  'history whole': ({ history }) => history?.truncated === false,
  'history empty': ({ history }) => history?.messages.length === 0,
  'history of a DM': ({ history }) => history?.scope === 'dm',
  'history of someone with a label': (input) =>
    input.history?.messages.some(({ pubkey }) => profileOf(input, pubkey)?.displayName === 'Morgan') === true,
  'history of a stranger': (input) =>
    input.history?.messages.some(({ pubkey }) => profileOf(input, pubkey) === undefined) === true,

  'no description': ({ channel }) => channel !== undefined && channel.description === undefined,
  'a blank description': ({ channel }) => channel?.description !== undefined && JS_BLANK.test(channel.description),
  'a description in a DM': (input) => isDm(input) && lengthOf(input.channel?.description) > 0,
  'a description of several lines': ({ channel }) => /\S[\r\n]+\S/.test(channel?.description ?? ''),
  'a description of 499 scalars': (input) => plainDescription(input) === 499,
  'a description of 500 scalars': (input) => plainDescription(input) === 500,
  'a description of 501 scalars': (input) => plainDescription(input) === 501,
  'a description cut beside an emoji': ({ channel }) => {
    const scalars = Array.from(channel?.description ?? '');
    return scalars.length > 500 && lengthOf(scalars[499]) === 1 && (scalars[499]?.length === 2 || scalars[500]?.length === 2);
  },

  'an interrupt': ({ interrupted }) => interrupted?.mode === 'interrupt',
  'a steer': ({ interrupted }) => interrupted?.mode === 'steer',
  'several interrupted events': ({ interrupted }) => (interrupted?.events.length ?? 0) > 1,
  'one event': ({ events }) => events.length === 1,
  'several events': ({ events }) => events.length > 1,

  'a rule of one @': ({ events }) => events.some(({ rule }) => /^@[^@]/.test(rule)),
  'a rule of two @s': ({ events }) => events.some(({ rule }) => /^@@/.test(rule)),
  'a rule with an @ inside': ({ events }) => events.some(({ rule }) => /^[^@]+@/.test(rule)),
  'an empty rule': ({ events }) => events.some(({ rule }) => rule === ''),

  'root and reply': (input) => shown(input).some((entry) => new Set(markersOf(entry)).size === 2),
  'a lone reply': (input) => shown(input).some((entry) => new Set(markersOf(entry)).size === 1 && markersOf(entry)[0] === 'reply'),
  'a lone root': (input) => shown(input).some((entry) => new Set(markersOf(entry)).size === 1 && markersOf(entry)[0] === 'root'),
  'two of one marker': (input) => shown(input).some((entry) => markersOf(entry).length > new Set(markersOf(entry)).size),
  'root and reply the same': (input) =>
    shown(input).some((entry) => idsOf(entry, 'root').at(-1) !== undefined && idsOf(entry, 'root').at(-1) === idsOf(entry, 'reply').at(-1)),
  'a thread id in upper case': (input) => tagged(input, ([tag, id]) => tag === 'e' && /^0+AB$/.test(id ?? '')),
  'an e tag of three elements': (input) => tagged(input, (tag) => tag[0] === 'e' && tag.length === 3),
  'an e tag with an id of 62 digits': (input) => tagged(input, (tag) => tag[0] === 'e' && tag[1] === 'dd'.repeat(31)),
  'an e tag with a line break after the id': (input) => tagged(input, (tag) => tag[0] === 'e' && /^d{64}\n$/.test(tag[1] ?? '')),
  'an e tag with another marker': (input) => tagged(input, (tag) => tag[0] === 'e' && tag[3] === 'mention'),
  'a marker in upper case': (input) => tagged(input, (tag) => tag[3] === 'Reply'),
  'an e tag of five elements': (input) => tagged(input, (tag) => tag[0] === 'e' && tag.length === 5),

  'no mention': (input) => mentionsOf(last(input)).length === 0,
  'several mentions': (input) => mentionsOf(last(input)).length > 1,
  'a p tag alone': (input) => tagged(input, (tag) => tag[0] === 'p' && tag.length === 1),
  'an empty mention': (input) => tagged(input, (tag) => tag[0] === 'p' && tag[1] === ''),
  'a mention in upper case': (input) => tagged(input, ([tag, key]) => tag === 'p' && key === key?.toUpperCase() && HEX.test(key ?? '')),
  'a mention that is no key': (input) => tagged(input, ([tag, key]) => tag === 'p' && key !== undefined && !HEX.test(key)),
  'a mention of an inherited name': (input) => tagged(input, ([tag, key]) => tag === 'p' && key === '__proto__'),
  'a mention with a label': (input) =>
    shown(input).some((entry) => mentionsOf(entry).some((key) => profileOf(input, key)?.displayName === 'Morgan')),

  'a person speaks': (input) => profileOf(input, last(input)?.event.pubkey ?? '')?.isAgent === false,
  'a stranger speaks': (input) => profileOf(input, last(input)?.event.pubkey ?? '') === undefined,
  'an agent speaks to nobody': (input) => agentSpeaks(input) && mentionsOf(last(input)).length === 0,
  'an agent speaks to agents': (input) =>
    agentSpeaks(input) && mentionsOf(last(input)).length > 0 && mentionsOf(last(input)).every((key) => isAgent(input, key)),
  'an agent speaks to a person': (input) =>
    agentSpeaks(input) && mentionsOf(last(input)).some((key) => !isAgent(input, key)),
  'an agent speaks in a DM': (input) => agentSpeaks(input) && isDm(input),

  'a display name': (input) => speaker(input, ({ displayName }) => displayName === 'Morgan'),
  'an address alone': (input) => speaker(input, ({ displayName, nip05 }) => displayName === undefined && nip05 === 'Morgan'),
  'an address for a blank name': (input) =>
    speaker(input, ({ displayName, nip05 }) => displayName !== undefined && JS_BLANK.test(displayName) && nip05 === 'Morgan'),
  'an address for a name of controls': (input) =>
    speaker(input, ({ displayName, nip05 }) => displayName === '\u202e\u0007' && nip05 === 'Morgan'),
  'a name of 63 scalars': (input) => speaker(input, ({ displayName }) => lengthOf(displayName) === 63),
  'a name of 64 scalars': (input) => speaker(input, ({ displayName }) => lengthOf(displayName) === 64),
  'a name of 65 scalars': (input) => speaker(input, ({ displayName }) => lengthOf(displayName) === 65),
  'a name with a control': (input) => speaker(input, ({ displayName }) => /\S\p{Cc}\S/u.test(displayName ?? '')),
  'a name with a bidi control': (input) => speaker(input, ({ displayName }) => /\S\u2066\S/.test(displayName ?? '')),
  'a name cut beside an emoji': (input) => speaker(input, ({ displayName }) => {
    const scalars = Array.from(displayName ?? '');
    return scalars.length > 64 && (scalars[63]?.length === 2 || scalars[64]?.length === 2);
  }),

  'role system': ({ standingRole, standing }) => standingRole === 'system' && /\w/.test(standing?.base ?? ''),
  'role prompt': ({ standingRole, standing }) => standingRole === 'prompt' && /\w/.test(standing?.base ?? ''),
  'role sent': ({ standingRole, standing }) => standingRole === 'sent' && /\w/.test(standing?.base ?? ''),
  'role system with nothing': ({ standingRole, standing }) => standingRole === 'system' && !standing,
  'role prompt with nothing': ({ standingRole, standing }) => standingRole === 'prompt' && !standing,
  ...Object.fromEntries(
    (['workspace', 'base', 'system', 'teamInstructions', 'coreMemory', 'huddleInstructions', 'channelCanvas'] as const)
      .flatMap((section): (readonly [string, Branch])[] => [
        [`${section} absent`, ({ standing }) => standing !== undefined && standing[section] === undefined],
        [`${section} blank`, ({ standing }) => standing?.[section] !== undefined && JS_BLANK.test(standing[section])],
        [`${section} within line breaks`, ({ standing }) => /^\n[^]*\S[^]*\n$/.test(standing?.[section] ?? '')],
        [`${section} within NELs`, ({ standing }) => /^\u0085[^]*\S[^]*\u0085$/.test(standing?.[section] ?? '')],
        [`${section} within byte order marks`, ({ standing }) => /^\ufeff|\ufeff$/.test(standing?.[section] ?? '')],
      ]),
  ),

  'a tag of ours in a text': (input) => holds(input, /<\/event>/),
  'a quote in an attribute': (input) => tagged(input, ([tag, key]) => tag === 'p' && /["']/.test(key ?? '')),
  'a line break in an attribute': (input) => tagged(input, ([tag, key]) => tag === 'p' && /[\r\n\t]/.test(key ?? '')),
  'an entity in a text': (input) => holds(input, /&lt;/),
  'a pattern of replacement in a text': (input) => holds(input, /\$[&1]/),
  'a lone high surrogate': (input) => holds(input, /[\ud800-\udbff](?![\udc00-\udfff])/),
  'a lone low surrogate': (input) => holds(input, /(?<![\ud800-\udbff])[\udc00-\udfff]/),
  'a combining mark': (input) => holds(input, /e\u0301/),
  'U+2028': (input) => holds(input, /\u2028/),
};
