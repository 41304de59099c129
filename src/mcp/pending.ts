/**
 * Requests whose outcome is not known, so that a model can ask again with the identical bytes. Bounded: the oldest are
 * forgotten, and then only reading the channel can tell.
 */
import type { FrozenRequest, Succeeded } from '../broker/client/index.ts';

export interface PendingRequest {
  readonly request: FrozenRequest;
  /** How the tool that made the request would have told its success. */
  readonly told: (result: Succeeded) => readonly string[];
}

export interface Pending {
  keep(one: PendingRequest): void;
  find(requestId: string): PendingRequest | undefined;
  forget(requestId: string): void;
}

const MAX_PENDING = 64;

export function openPending(): Pending {
  const byId = new Map<string, PendingRequest>();
  return {
    keep(one) {
      byId.set(one.request.requestId, one);
      const [oldest] = byId.keys();
      if (byId.size > MAX_PENDING && oldest !== undefined) byId.delete(oldest);
    },
    find: (requestId) => byId.get(requestId),
    forget: (requestId) => { byId.delete(requestId); },
  };
}
