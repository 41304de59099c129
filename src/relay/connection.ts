/**
 * One socket: reads messages as they come and never waits for one before reading the next, keeps what waits to be sent
 * within bounds, notices a dead peer, and ends what will not authenticate. What is said is `conversation.ts`.
 */
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { later, refuse } from '../model/index.ts';
import { challengeText, noticeText } from './answers.ts';
import { Conversation } from './conversation.ts';
import type { RelayParts } from './conversation.ts';
import { parseClientMessage } from './messages.ts';
import type { Outlet } from './readings.ts';
import type { Delivery } from './subscription.ts';

/** How much of a replay may wait in the socket: enough to keep it busy, far below what makes a client slow. */
const SEND_AHEAD_BYTES = 262_144;

export class Connection {
  readonly #socket: WebSocket;
  readonly #parts: RelayParts;
  readonly #conversation: Conversation;
  readonly #answering = new Set<Promise<void>>();
  #answeredPing = true;
  #closing = false;

  /** `challenge` is unpredictable text of this connection alone (NIP-42). */
  constructor(socket: WebSocket, parts: RelayParts, challenge: string) {
    this.#socket = socket;
    this.#parts = parts;
    const outlet: Outlet = {
      send: (text) => {
        this.#send(text);
      },
      sendAll: (texts) => this.#sendAll(texts),
    };
    this.#conversation = new Conversation(parts, outlet, challenge);
    const cancelDeadline = this.#armDeadline();
    socket.on('message', (data, isBinary) => {
      this.#onMessage(data, isBinary);
    });
    socket.on('pong', () => {
      this.#answeredPing = true;
    });
    // `close` follows; without a listener an error of one socket would end the process.
    socket.on('error', (error) => {
      parts.log.debug('socket error', { detail: error.message });
    });
    socket.on('close', () => {
      cancelDeadline();
      this.#conversation.readings.clear();
    });
    this.#send(challengeText(challenge));
  }

  get subscriptions(): number {
    return this.#conversation.readings.size;
  }

  /** Sends an accepted event to the subscriptions that want it; drops a client that has let too much pile up. */
  offer(delivery: Delivery): void {
    this.#conversation.offer(delivery);
    const waiting = this.#socket.bufferedAmount + this.#conversation.readings.heldLength;
    if (waiting <= this.#parts.limits.maxOutboundBytes) return;
    this.#parts.log.warn('slow client dropped', { waitingBytes: waiting });
    this.#socket.terminate();
  }

  /** Pings the peer, or drops it when it has not answered the last one. */
  heartbeat(): void {
    if (!this.#answeredPing) {
      this.#socket.terminate();
      return;
    }
    this.#answeredPing = false;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  /** Reads no more, answers what it has read, then says goodbye; resolves when the socket has closed. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#answering);
    this.#conversation.readings.clear();
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    await new Promise<void>((resolve) => {
      this.#socket.once('close', () => {
        resolve();
      });
      this.#socket.close(1001, 'the relay is closing');
    });
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #armDeadline(): () => void {
    const { steadyClock, limits } = this.#parts;
    return steadyClock.wake(later(steadyClock.now(), limits.authTimeoutMs), () => {
      if (this.#conversation.authenticated) return;
      this.#send(noticeText(refuse('auth-required', `no AUTH within ${limits.authTimeoutMs} ms`)));
      this.#socket.close(1008, 'auth-required');
    });
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#closing) return;
    if (isBinary) {
      this.#socket.close(1003, 'expected text messages');
      return;
    }
    const message = parseClientMessage(bytesOf(data), this.#parts.limits);
    const answering = this.#conversation.answer(message).catch((error: unknown) => {
      // A bug ends this conversation, not the relay.
      this.#parts.log.error('bug while answering', { detail: error instanceof Error ? error.stack : 'unknown' });
      this.#socket.close(1011, 'internal error');
    });
    this.#answering.add(answering);
    void answering.then(() => this.#answering.delete(answering));
  }

  #send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  async #sendAll(texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      if (this.#socket.bufferedAmount < SEND_AHEAD_BYTES) {
        this.#socket.send(text);
        continue;
      }
      await new Promise<void>((resolve) => {
        // Called with an error when the socket is gone: then there is nothing left to wait for either.
        this.#socket.send(text, () => {
          resolve();
        });
      });
    }
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
