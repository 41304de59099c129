/**
 * The subscriptions as their subscribers gave them, and the handing over of what comes for each, in its turn: see
 * `SubscriptionSpec`. What a subscription is on the relay, the machine knows.
 */
import type { Filter, VerifiedEvent } from '../../nostr/index.ts';
import type { Delivery } from './delivery.ts';
import type { Asker, Intake } from './intake.ts';
import type { SubscriptionSpec } from './ports.ts';

interface Subscription {
  readonly spec: SubscriptionSpec;
  /** Tells it from an earlier subscription with its id: what came for that one is not handed to this. */
  readonly incarnation: number;
  /** As last asked for. */
  readonly filters: readonly Filter[];
}

export interface SubscriptionsOptions {
  readonly delivery: Delivery;
  readonly intake: Intake;
  /** Its subscriber has failed, and it is still there. */
  readonly onFailed: (id: string) => void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #open = new Map<string, Subscription>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** In the place of an earlier one with its id. `incarnation` is no other subscription's. */
  add(spec: SubscriptionSpec, incarnation: number): void {
    this.#open.set(spec.id, { spec, incarnation, filters: [] });
  }

  delete(id: string): boolean {
    return this.#open.delete(id);
  }

  clear(): void {
    this.#open.clear();
  }

  asker(id: string): Asker | undefined {
    return this.#open.get(id);
  }

  /** The filters that it is asked with from now on; undefined where there is no such subscription. */
  filters(id: string): readonly Filter[] | undefined {
    const subscription = this.#open.get(id);
    if (subscription === undefined) return undefined;
    const filters = subscription.spec.filters();
    this.#open.set(id, { ...subscription, filters });
    return filters;
  }

  event(id: string, event: VerifiedEvent, stored: boolean): void {
    const asked = this.#open.get(id);
    if (asked === undefined || asked.spec.glance?.(event) === true) return;
    this.#options.intake.handedOver(event, asked.incarnation);
    this.#hand(asked, (spec) => spec.onEvent(event, stored));
  }

  eose(id: string): void {
    const asked = this.#open.get(id);
    if (asked !== undefined) this.#hand(asked, (spec) => spec.onEose?.());
  }

  #hand({ spec: { id, urgent }, incarnation }: Subscription, hand: (spec: SubscriptionSpec) => void | Promise<void>): void {
    this.#options.delivery.push(async () => {
      const subscription = this.#open.get(id);
      if (subscription?.incarnation !== incarnation) return;
      try {
        await hand(subscription.spec);
      } catch (error) {
        if (this.#open.get(id)?.incarnation === incarnation) this.#options.onFailed(id);
        throw error;
      }
    }, urgent);
  }
}
