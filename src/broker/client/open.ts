/**
 * The client of a NIP-BA broker: validates and freezes with the wire's own codec, sends, and says what came of it.
 * It holds a credential and no key. The credential stands in a header of each request and nowhere else: not in the
 * object that is given out, not in a message, not in a log, for there is none.
 */
import { setMaxListeners } from 'node:events';
import { Failure } from '../../model/index.ts';
import type { Clock, Random } from '../../model/index.ts';
import { writeUntypedRequest } from '../wire/index.ts';
import { answerOf } from './answer.ts';
import { attempt } from './attempts.ts';
import type { Frozen } from './attempts.ts';
import { checkCredential, parseEndpoint } from './endpoint.ts';
import { openWire } from './exchange.ts';
import { checkLimits, CLIENT_LIMITS } from './limits.ts';
import type { ClientLimits } from './limits.ts';
import type {
  BrokerClient,
  CallResult,
  FreezeOptions,
  FrozenRequest,
  Refused,
  SendOptions,
  SendResult,
  TransportFailure,
} from './ports.ts';
import { openSlots } from './slots.ts';

export interface ClientOptions {
  /** The base URL of the broker: https, or http on a loopback address. */
  readonly endpoint: string;
  /** The session credential. */
  readonly credential: string;
  /** For https: certificates to trust instead of those that Node trusts; PEM. */
  readonly ca?: string | readonly string[];
  readonly limits?: Partial<ClientLimits>;
}

export interface ClientParts {
  readonly clock: Clock;
  readonly random: Random;
}

const REQUEST_ID_BYTES = 16;

/** Connects to nothing yet. Throws `Failure` `config` for an endpoint, a credential or a limit that cannot be used. */
export function openClientOn({ clock, random }: ClientParts, options: ClientOptions): BrokerClient {
  const limits = { ...CLIENT_LIMITS, ...options.limits };
  const { credential, ca } = options;
  const parsed = parseEndpoint(options.endpoint);
  if (!parsed.ok) throw new Failure('config', parsed.detail);
  const refused = checkCredential(credential) ?? checkLimits(limits);
  if (refused !== undefined) throw new Failure('config', refused.detail);
  const { maxConcurrent: maxConnections, maxResponseBytes } = limits;
  const { endpoint } = parsed;
  const wire = openWire({
    endpoint, credential, clock, maxConnections, maxResponseBytes, ...(ca === undefined ? {} : { ca }),
  });

  const closing = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, closing.signal);
  const slots = openSlots(limits.maxConcurrent);
  /** The bytes are kept here, so that nobody can change what a retry sends. */
  const frozenRequests = new WeakMap<FrozenRequest, Frozen>();

  function freeze(action: string, args: unknown, options: FreezeOptions = {}): FrozenRequest | Refused {
    const { requestId = newRequestId(random), sentBefore = false } = options;
    const writing = writeUntypedRequest({ requestId, action, args });
    if (!writing.ok) return { status: 'refused', code: writing.code, detail: writing.detail };
    const { request, bytes } = writing;
    const frozen: FrozenRequest = Object.freeze({ status: 'frozen', requestId, action: request.action });
    frozenRequests.set(frozen, { request, bytes, uncertain: sentBefore });
    return frozen;
  }

  async function send(request: FrozenRequest, { signal }: SendOptions = {}): Promise<SendResult> {
    const frozen = frozenRequests.get(request);
    if (frozen === undefined) throw new TypeError('send: expected a request that this client has frozen');
    const none = (failure: Pick<TransportFailure, 'reason' | 'detail'>, attempts = 0): TransportFailure => ({
      status: 'transport', requestId: request.requestId, ...failure, attempts, uncertain: frozen.uncertain,
    });
    if (slots.waiting >= limits.maxWaiting) {
      return none({ reason: 'overloaded', detail: `${slots.waiting} calls are waiting already` });
    }
    const ended = eitherOf(closing.signal, signal);
    try {
      if (!(await slots.enter(ended.signal))) return none(ending(closing.signal));
      try {
        const attempted = await attempt(frozen, { exchange: wire.exchange, limits, clock, random, signal: ended.signal });
        if (attempted.type === 'verdict') return answerOf(frozen, attempted.result);
        const { reason, detail, attempts } = attempted;
        return none(reason === 'aborted' ? ending(closing.signal) : { reason, detail }, attempts);
      } finally {
        slots.leave();
      }
    } finally {
      ended.release();
    }
  }

  async function callUntyped(action: string, args: unknown, options?: FreezeOptions & SendOptions): Promise<CallResult> {
    const frozen = freeze(action, args, options);
    return frozen.status === 'refused' ? frozen : send(frozen, options);
  }

  const client = {
    endpoint: endpoint.url.href,
    call: callUntyped,
    callUntyped,
    freeze,
    send,
    close: () => {
      closing.abort();
      wire.close();
    },
  };
  // The wire holds every answer to the action that was asked, which the types of single calls cannot see from here.
  return Object.freeze(client) as BrokerClient;
}

/**
 * Aborts with the first of two signals, and leaves nothing on either once released. `AbortSignal.any` would keep a
 * trace of every call on a signal that lives as long as the client.
 */
function eitherOf(one: AbortSignal, other: AbortSignal | undefined): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = (): void => { controller.abort(); };
  for (const signal of [one, other]) {
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    release: () => { for (const signal of [one, other]) signal?.removeEventListener('abort', abort); },
  };
}

function ending(closing: AbortSignal): Pick<TransportFailure, 'reason' | 'detail'> {
  if (closing.aborted) return { reason: 'closed', detail: 'the client is closed' };
  return { reason: 'aborted', detail: 'the call was aborted' };
}

/** 128 random bits: unique without asking anybody. */
function newRequestId(random: Random): string {
  return Buffer.from(random.bytes(REQUEST_ID_BYTES)).toString('base64url');
}

