/**
 * The road of an EVENT: form → author → signature → channel → commit → answer and fan-out. Only what is committed is
 * answered and fanned out; ephemeral events never touch the store. Nothing waits for the event before it, with one
 * exception: what is written into a channel waits for a change of that channel that is still being committed.
 */
import { Failure, refuse, secondsOf } from '../model/index.ts';
import type { ChannelId, Clock, Log, Pubkey } from '../model/index.ts';
import { attestationIn, firstValue, verifyEvent } from '../nostr/index.ts';
import type { UnverifiedEvent, VerifiedEvent } from '../nostr/index.ts';
import type { Statement, Store } from '../store/index.ts';
import { audienceOf, channelFor, checkWriter, namesInstructions } from './access.ts';
import { ACCEPTED, answerNotStored } from './answers.ts';
import type { Answer, RelayRefusal } from './answers.ts';
import {
  countOwn, explain, holdsInstructions, keep, rememberOwner, removeFromChannel, removeOwn, values,
} from './archive.ts';
import type { Entry } from './archive.ts';
import type { Identity } from './auth.ts';
import type { ChannelBook } from './channel-book.ts';
import { isAdmin } from './channel.ts';
import { checkForm } from './forms.ts';
import { NOT_AUTHORIZED, routeFrame } from './frames.ts';
import { CHANNEL_CHANGES, KIND, storageClassOf } from './kinds.ts';
import type { RelayLimits } from './limits.ts';
import type { Owners } from './owners.ts';
import { Pace } from './pace.ts';
import type { Delivery } from './subscription.ts';

export interface IngestOptions {
  readonly store: Store;
  /** For what a stamp is compared with. */
  readonly clock: Clock;
  /** For the pace of telemetry. */
  readonly steadyClock: Clock;
  readonly limits: RelayLimits;
  readonly owners: Owners;
  readonly book: ChannelBook;
  readonly log: Log;
  readonly deliver: (delivery: Delivery) => void;
}

export class Ingest {
  readonly #options: IngestOptions;
  readonly #telemetry: Pace;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#telemetry = new Pace(options.limits.telemetryPerSec);
  }

  /** Rejects for a bug only: trouble with the store is an `error:` answer, and nothing is half-written. */
  async accept(event: UnverifiedEvent, author: Identity): Promise<Answer> {
    const judged = this.#judge(event, author.pubkey);
    if (!judged.ok) return judged;
    try {
      return await this.#place(judged.event, author);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // NIP-AO "Ephemerality Contract": a frame leaves no trace, not even the id of one.
      const id = event.kind === KIND.observerFrame ? {} : { id: event.id };
      this.#options.log.error('event not stored', { ...id, code: error.code, detail: error.message });
      return refuse('error', `the event could not be stored (${error.code})`);
    }
  }

  /** Everything that needs no channel and no store, the dear signature check last. */
  #judge(
    event: UnverifiedEvent, author: Pubkey,
  ): { readonly ok: true; readonly event: VerifiedEvent } | RelayRefusal {
    const { clock, limits } = this.#options;
    const fault = checkForm(event, secondsOf(clock.now()), limits);
    if (fault !== undefined) return fault;
    // A gift wrap is signed by a key of one use: that it is not the sender's is its purpose.
    if (event.pubkey !== author && event.kind !== KIND.giftWrap) {
      return refuse('invalid', 'event pubkey does not match authenticated identity');
    }
    const verified = verifyEvent(event);
    return verified.ok ? verified : refuse('invalid', verified.detail);
  }

  async #place(event: VerifiedEvent, author: Identity): Promise<Answer> {
    if (event.kind === KIND.observerFrame) return this.#relayFrame(event, author);
    if (event.kind === KIND.turnMetric) return this.#keepMetric(event, author);
    const channelId = channelFor(event);
    if (channelId === undefined) return this.#store(event);
    const changes = CHANNEL_CHANGES.has(event.kind);
    return this.#options.book.inTurn(channelId, changes, () => this.#placeInChannel(event, channelId));
  }

  async #placeInChannel(event: VerifiedEvent, channelId: ChannelId): Promise<Answer> {
    const { book, deliver } = this.#options;
    if (CHANNEL_CHANGES.has(event.kind)) {
      const { answer, deliveries } = await book.change(entryOf(event), channelId);
      for (const delivery of deliveries) deliver(delivery);
      return answer;
    }
    const refusal = checkWriter(book.channels.get(channelId), event.pubkey);
    if (refusal !== undefined) return refusal;
    if (event.kind === KIND.deleteEvent) return this.#deleteFromChannel(event, channelId);
    return this.#store(event);
  }

  async #store(event: VerifiedEvent): Promise<Answer> {
    if (storageClassOf(event.kind) === 'ephemeral') {
      this.#options.deliver({ ...entryOf(event), seq: undefined });
      return ACCEPTED;
    }
    if (event.kind === KIND.deletion) return this.#deleteOwn(event);
    return this.#keep(event, event.kind === 0 ? ownerIn(event) : []);
  }

  async #keep(event: VerifiedEvent, extra: readonly Statement[]): Promise<Answer> {
    const { store, deliver } = this.#options;
    const entry = entryOf(event);
    const [seq] = await keep(store, [entry], extra);
    if (seq !== undefined) {
      deliver({ ...entry, seq });
      return ACCEPTED;
    }
    return answerNotStored(await explain(store, entry));
  }

  async #deleteOwn(event: VerifiedEvent): Promise<Answer> {
    if (!namesInstructions(event)) {
      // An empty write resolves after all that was queued before: a target sent just ahead is then seen.
      await this.#options.store.write();
      // NIP-AP "Ingest validation: kind:44300": such a request stays private only if it says what it deletes.
      if (await holdsInstructions(this.#options.store, values(event, 'e'), event.pubkey)) {
        return refuse('invalid', `k: deleting an instructions version needs ["k","${KIND.instructions}"]`);
      }
    }
    return this.#keep(event, removeOwn(event));
  }

  /** NIP-29 delete-event: an admin's word for any event of the channel, anybody's for their own. */
  async #deleteFromChannel(event: VerifiedEvent, channelId: ChannelId): Promise<Answer> {
    const { store, book } = this.#options;
    const targets = [...new Set(values(event, 'e'))];
    if (targets.length === 0) return refuse('invalid', 'e: expected at least one');
    const channel = book.channels.get(channelId);
    if (channel === undefined || !isAdmin(channel, event.pubkey)) {
      await store.write();
      const own = await countOwn(store, targets, event.pubkey, channelId);
      if (own < targets.length) return refuse('restricted', 'only an admin of the channel deletes what others wrote');
    }
    return this.#keep(event, [removeFromChannel(event, channelId)]);
  }

  /** NIP-AO "Relay Behavior": authorised and fanned out in memory, past everything that stores. */
  async #relayFrame(event: VerifiedEvent, author: Identity): Promise<Answer> {
    const { owners, limits, steadyClock, deliver } = this.#options;
    const route = routeFrame(event);
    if (!route.ok) return route;
    if (route.direction === 'dropped') return ACCEPTED;
    const isTelemetry = route.direction === 'telemetry';
    if (!(await owners.hold(route.bond, isTelemetry ? author.owner : undefined))) return NOT_AUTHORIZED;
    if (isTelemetry && !this.#telemetry.take(route.bond.agent, steadyClock.now())) {
      return refuse('rate-limited', `observer frame rate exceeded (${limits.telemetryPerSec}/sec per agent)`);
    }
    deliver({ ...entryOf(event), seq: undefined });
    return ACCEPTED;
  }

  /** NIP-AM: sealed to the owner, so the one it names must be the agent's. */
  async #keepMetric(event: VerifiedEvent, author: Identity): Promise<Answer> {
    const bond = { agent: event.pubkey, owner: firstValue(event.tags, 'p') ?? '' };
    if (await this.#options.owners.hold(bond, author.owner)) return this.#keep(event, []);
    return refuse('restricted', 'turn metric is not authorized for this agent owner');
  }
}

function entryOf(event: VerifiedEvent): Entry {
  return { event, json: JSON.stringify(event), audience: audienceOf(event) };
}

/** An agent's profile may prove its owner (NIP-OA), as its AUTH event does. */
function ownerIn(profile: VerifiedEvent): readonly Statement[] {
  const attested = attestationIn(profile.tags, profile.pubkey, profile);
  return attested.ok ? [rememberOwner(profile.pubkey, attested.attestation.owner)] : [];
}
