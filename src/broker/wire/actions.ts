/**
 * The fifteen actions of NIP-BA, one entry for each row of its "Actions" table: the exact arguments, the exact
 * outcome, and `agrees`, what an outcome must have in common with the arguments it answers ("Result"). Every rule of
 * an action that can be decided without the world stands here; types of requests and results are derived from it.
 * Reserved names (sign, publish, encrypt, decrypt, authenticate) are absent, and so unknown.
 */
import type { Field } from './field.ts';
import { refine } from './field.ts';
import {
  FRAMES_MAX,
  FRAMES_MAX_BYTES,
  MENTIONS_MAX,
  PAGE_DEFAULT_EVENTS,
  PAGE_MAX_EVENTS,
  RECORD_MAX_BYTES,
} from './limits.ts';
import { strayMessage } from './page.ts';
import * as scalars from './scalars.ts';
import { argument, oneOf, opaque, u32, u64, unsigned } from './scalars.ts';
import { flag, list, object, optional } from './shape.ts';
import type { Read } from './shape.ts';
import { quote, utf8Bytes } from './text.ts';
import { selectedPubkey, target } from './target.ts';

interface Action<Args, Outcome> {
  readonly args: Field<Args>;
  readonly outcome: Field<Outcome>;
  /** What is wrong with `outcome` as an answer to `args`, or undefined. */
  agrees(args: Args, outcome: Outcome): string | undefined;
}

/** Correlates args and outcome of one action; without `agrees` there is nothing to compare. */
function action<Args, Outcome>(
  args: Field<Args>,
  outcome: Field<Outcome>,
  agrees: (args: Args, outcome: Outcome) => string | undefined = () => undefined,
): Action<Args, Outcome> {
  return { args, outcome, agrees };
}

const published = object({ eventId: scalars.eventId, kind: u32, createdAt: u64 });

/** An action that ends in one event of this very kind, the one that its section of the specification names. */
function publishes<Args>(kind: number, args: Field<Args>): Action<Args, Read<typeof published>> {
  return action(args, published, (_args, outcome) => ofKind(kind, outcome));
}

/** NIP-AE's engram, in which `storage.*` keeps its records. */
const MEMORY_KIND = 30_174;

/** A signed event as it travels: the seven members of NIP-01, verbatim. */
const event = object({
  id: scalars.signedId,
  pubkey: scalars.signedPubkey,
  created_at: u64,
  kind: u32,
  tags: list(list(scalars.string)),
  content: scalars.string,
  sig: scalars.signature,
});

const post = {
  channelId: argument.channel,
  content: scalars.content,
  mentions: optional(list(argument.pubkey, { min: 1, max: MENTIONS_MAX })),
};

const runtimeChoices = {
  runtime: optional(argument.scalar),
  provider: optional(argument.scalar),
  model: optional(argument.scalar),
  respondTo: optional(oneOf('owner-only', 'anyone')),
};

const profileFields = {
  displayName: optional(argument.name),
  about: optional(argument.about),
  picture: optional(argument.scalar),
};

const mutableFields = {
  displayName: optional(argument.name),
  systemPrompt: optional(argument.prompt),
  ...runtimeChoices,
};

/** What a member of `mutableFields` may be called in `updatedFields`; lexicographic, as the outcome must be. */
const updatedField = oneOf('displayName', 'model', 'provider', 'respondTo', 'runtime', 'systemPrompt');

const agentOutcome = { agentPubkey: scalars.pubkey, displayName: scalars.name };

const frames = object({
  frames: list(object({ kind: argument.scalar, payload: opaque(FRAMES_MAX_BYTES) }), { min: 1, max: FRAMES_MAX }),
});

/** The size in bytes of the plaintext that stores `value` (NIP-BA "Memory"). */
function recordBytes(slug: string, value: string): number {
  const text = quote(value);
  return utf8Bytes(slug === 'core' ? `{"slug":"core","profile":${text}}` : `{"slug":"${slug}","value":${text}}`);
}

function fitsRecord({ slug, value }: { readonly slug: string; readonly value: string }): string | undefined {
  return recordBytes(slug, value) <= RECORD_MAX_BYTES ? undefined : `a record of at most ${RECORD_MAX_BYTES} bytes`;
}

function atLeastOne(names: Readonly<Record<string, unknown>>): (value: object) => string | undefined {
  const expected = `at least one of ${Object.keys(names).join(', ')}`;
  return (value) => (Object.keys(value).some((name) => name in names) ? undefined : expected);
}

function ofKind(expected: number, { kind }: { readonly kind: number }): string | undefined {
  return kind === expected ? undefined : `kind: found ${kind}, expected ${expected}`;
}

function ascending(names: readonly string[]): string | undefined {
  const sorted = names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name);
  return sorted ? undefined : 'lexicographic order without duplicates';
}

/** The number of events a page may hold: `limit`, or what its omission means. */
export function pageLimit(args: { readonly limit?: number }): number {
  return args.limit ?? PAGE_DEFAULT_EVENTS;
}

export const ACTIONS = {
  'channel.read': action(
    object({
      channelId: argument.channel,
      rootEventId: optional(argument.eventId),
      mentionsOnly: flag,
      cursor: optional(scalars.cursor),
      limit: optional(unsigned(1, PAGE_MAX_EVENTS)),
    }),
    object({ messages: list(event), nextCursor: optional(scalars.cursor) }),
    (args, { messages }) =>
      messages.length <= pageLimit(args)
        ? strayMessage(args, messages)
        : `messages: found ${messages.length}, asked for ${pageLimit(args)}`,
  ),
  'message.post': publishes(9, object(post)),
  'message.reply': publishes(9, object({ ...post, replyToEventId: argument.eventId })),
  'reaction.add': publishes(
    7,
    object({ channelId: argument.channel, targetEventId: argument.eventId, reaction: argument.reaction }),
  ),
  'profile.set': publishes(0, refine(object(profileFields), atLeastOne(profileFields))),
  'storage.address': action(
    object({ slug: argument.slug }),
    object({ authorPubkey: scalars.pubkey, kind: u32, dTag: scalars.hex }),
    (_args, outcome) => ofKind(MEMORY_KIND, outcome),
  ),
  'storage.get': action(
    object({ slug: argument.slug }),
    object({ value: optional(scalars.string) }),
    ({ slug }, { value }) => {
      const expected = value === undefined ? undefined : fitsRecord({ slug, value });
      return expected === undefined ? undefined : `value: expected ${expected}`;
    },
  ),
  'storage.put': publishes(
    MEMORY_KIND,
    // The record's size is the only upper bound of the value, which no text of more bytes than that can meet.
    refine(object({ slug: argument.slug, value: opaque(RECORD_MAX_BYTES) }), fitsRecord),
  ),
  'presence.set': publishes(20_001, object({ status: oneOf('online', 'away', 'offline') })),
  'typing.set': publishes(20_002, object({ channelId: argument.channel })),
  'observer.emit': action(
    // Written by the shape itself, `frames` is the very compact form that the limit is about.
    refine(frames, (args) =>
      utf8Bytes(frames.write(args)) <= FRAMES_MAX_BYTES
        ? undefined
        : `at most ${FRAMES_MAX_BYTES} bytes of compact JSON`,
    ),
    object({ accepted: u32 }),
    ({ frames: sent }, { accepted }) =>
      accepted <= sent.length ? undefined : `accepted: found ${accepted}, submitted ${sent.length}`,
  ),
  'liveness.ping': publishes(24_200, object({ channelId: argument.channel, turnId: argument.scalar })),
  'agents.create': action(
    object({
      channelId: argument.channel,
      displayName: argument.name,
      systemPrompt: argument.prompt,
      ...runtimeChoices,
    }),
    object({ ...agentOutcome, channelId: scalars.channel }),
    (args, outcome) =>
      outcome.channelId === args.channelId
        ? undefined
        : `channelId: found ${outcome.channelId}, asked for ${args.channelId}`,
  ),
  'agents.update': action(
    refine(object({ target, ...mutableFields }), atLeastOne(mutableFields)),
    object({ ...agentOutcome, updatedFields: refine(list(updatedField), ascending) }),
    (args, outcome) => {
      const stranger = outcome.updatedFields.find((name) => args[name] === undefined);
      return stranger === undefined ? selectedPubkey(args, outcome) : `updatedFields: ${stranger} was not supplied`;
    },
  ),
  'agents.delete': action(object({ target }), object(agentOutcome), selectedPubkey),
};

export type ActionName = keyof typeof ACTIONS;
/** The validated, normalised arguments of an action. */
export type Args<Name extends ActionName> = Read<(typeof ACTIONS)[Name]['args']>;
/** The outcome of an action. */
export type Outcome<Name extends ActionName> = Read<(typeof ACTIONS)[Name]['outcome']>;
/** A signed event inside an outcome. `created_at` is a bigint, as u64 is exact on this wire. */
export type WireEvent = Read<typeof event>;

/** All fifteen, in the order of the specification. */
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[]; // the keys of the table are its names

const BY_TEXT: ReadonlyMap<string, ActionName> = new Map(ACTION_NAMES.map((name) => [name, name]));

/** The rules of an action whose name is known only at run time. */
export function rulesOf(name: ActionName): Action<unknown, unknown> {
  return ACTIONS[name];
}

/** The action of that very name; names are exact, not trimmed. */
export function actionNamed(text: string): ActionName | undefined {
  return BY_TEXT.get(text);
}
