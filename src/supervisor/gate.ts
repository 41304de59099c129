/**
 * Who may wake the agent with what. Two pure questions: `sift` needs nothing but the event and the agent's settings and
 * drops most of what a channel carries; `admit` needs to know the author and the channel. The order is Buzz's own:
 * own events, messages of ours, commands of the owner, kinds, mention, respond-to; then the cap on agents answering each
 * other.
 *
 * in: a verified event. out: a rule and a hop count, a command, or a reason. Never: a look at the content, but whether it
 * is a command's one word, or a permission card.
 */
import { CARD_KIND, parseCard } from '../cards/index.ts';
import type { Pubkey } from '../model/index.ts';
import { mentions, OWN_MARK, WAKING_KINDS } from '../nostr/index.ts';
import type { VerifiedEvent } from '../nostr/index.ts';

export type RespondTo = 'owner-only' | 'allowlist' | 'anyone' | 'nobody';

export interface GateSettings {
  readonly agent: Pubkey;
  readonly owner: Pubkey;
  /** Of an agent that an agent made: who owns its owner, up to the person. They are heard like the owner. */
  readonly ancestors?: ReadonlySet<Pubkey>;
  readonly respondTo: RespondTo;
  readonly allowlist: ReadonlySet<Pubkey>;
  readonly subscribe: 'mentions' | 'all';
}

export type GateRefusal =
  | 'own' | 'ours' | 'kind' | 'no-mention' | 'nobody' | 'not-owner' | 'not-allowed' | 'direct-message' | 'hop-cap';

/** What is known of the author. `owner` is proven by a valid attestation in their profile, or by our own config. */
export interface AuthorFacts {
  readonly isAgent: boolean;
  readonly owner?: Pubkey;
}

export interface AdmitFacts {
  readonly author: AuthorFacts;
  /** A channel whose type is not known is treated as a direct message: the narrowest rule (fail closed). */
  readonly channelType: string | undefined;
  readonly hops: HopCounts;
}

/** Agents' messages in a row, with no person's between: at the message's destination, and in its whole channel. */
export interface HopCounts {
  readonly inDestination: number;
  readonly inChannel: number;
}

/** What an owner orders by a message of one word (Buzz). */
export type OwnerCommand = '!cancel' | '!rotate' | '!shutdown';

export type Sifted =
  | { readonly pass: true; readonly rule: string }
  | { readonly pass: false; readonly reason: GateRefusal }
  /** For skep, not for the agent. */
  | { readonly pass: false; readonly reason: 'command'; readonly command: OwnerCommand };
export type Admitted = { readonly pass: true; readonly hops: number } | { readonly pass: false; readonly reason: GateRefusal };

/** Agents' messages in a row in one thread that are still answered: a politeness loop ends here. */
export const MAX_HOPS = 8;
/** The same in a whole channel: a coordinator hands out many tasks, but a loop of new threads ends too. */
export const MAX_CHANNEL_HOPS = 64;

export function sift(event: VerifiedEvent, settings: GateSettings): Sifted {
  if (event.pubkey === settings.agent) return { pass: false, reason: 'own' };
  if (isMarked(event)) return { pass: false, reason: 'ours' };
  const command = commandIn(event, settings);
  if (command !== undefined) return { pass: false, reason: 'command', command };
  if (!WAKING_KINDS.includes(event.kind)) return { pass: false, reason: 'kind' };
  const mentioned = mentions(event.tags, settings.agent);
  if (!mentioned && settings.subscribe === 'mentions') return { pass: false, reason: 'no-mention' };
  if (settings.respondTo === 'nobody') return { pass: false, reason: 'nobody' };
  if (isCard(event)) return { pass: false, reason: 'ours' };
  return { pass: true, rule: mentioned ? '@mention' : 'all' };
}

const COMMANDS: ReadonlyMap<string, OwnerCommand> = new Map((['!cancel', '!rotate', '!shutdown'] as const).map((word) => [word, word]));
/** The only kind that carries a command: a channel message. */
const COMMAND_KIND = 9;

/** Another author's is a message like any other. */
function commandIn(event: VerifiedEvent, { agent, owner, ancestors }: GateSettings): OwnerCommand | undefined {
  if (event.kind !== COMMAND_KIND || !mentions(event.tags, agent)) return undefined;
  return event.pubkey === owner || ancestors?.has(event.pubkey) === true ? COMMANDS.get(event.content.trim()) : undefined;
}

/** A notice of skep's, or its report on a command. */
export function isMarked({ tags }: VerifiedEvent): boolean {
  return tags.some(([name]) => name === OWN_MARK);
}

/** Whoever wrote it: its tags are the protocol's own and hold no mark of ours (NIP-AO "Sentinel event structure"). */
export function isCard({ kind, content }: VerifiedEvent): boolean {
  // Most messages are no JSON: not worth an exception.
  return kind === CARD_KIND && content.trimStart().startsWith('{') && parseCard(content).ok;
}

export function admit(event: VerifiedEvent, settings: GateSettings, facts: AdmitFacts): Admitted {
  const refusal = authorRefusal(event.pubkey, settings, facts);
  if (refusal !== undefined) return { pass: false, reason: refusal };
  if (!facts.author.isAgent) return { pass: true, hops: 0 };
  const hops = facts.hops.inDestination + 1;
  const looping = hops > MAX_HOPS || facts.hops.inChannel + 1 > MAX_CHANNEL_HOPS;
  return looping ? { pass: false, reason: 'hop-cap' } : { pass: true, hops };
}

function authorRefusal(author: Pubkey, settings: GateSettings, facts: AdmitFacts): GateRefusal | undefined {
  // The owner and agents of the same owner pass every rule but `nobody`.
  if (author === settings.owner || facts.author.owner === settings.owner || settings.ancestors?.has(author) === true) return undefined;
  if (facts.channelType === undefined || facts.channelType === 'dm') return 'direct-message';
  switch (settings.respondTo) {
    case 'anyone':
      return undefined;
    case 'allowlist':
      return settings.allowlist.has(author) ? undefined : 'not-allowed';
    case 'owner-only':
      return 'not-owner';
    case 'nobody':
      return 'nobody';
  }
}
