/** The permission driver on a stage: a pipe, a relay and clocks that do what the test says, and all that was told. */
import type { IncomingRequest, PermissionAnswer, PoisonCause } from '../../src/acp/index.ts';
import type { CardFate, ObserverFrame } from '../../src/broker/index.ts';
import type { CardFacts, CardResolution } from '../../src/cards/index.ts';
import { later, milliseconds, seconds } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';
import { PermissionDriver } from '../../src/permission/index.ts';
import type { DriverParts, PermissionRule } from '../../src/permission/index.ts';
import { HandClock } from '../supervisor/hand-clock.ts';
import { agent, channel, deciding, OPTIONS, owner, STAMP, trigger } from './asks.ts';

export interface Write {
  readonly id: string | number;
  readonly answer: PermissionAnswer;
  /** Whether the pipe has taken it. */
  readonly end: (written: boolean) => Promise<void>;
}

export interface Post {
  readonly card: CardFacts;
  readonly timeoutMs: number;
  readonly end: (fate: CardFate) => Promise<void>;
}

export class Stage {
  readonly clock = new HandClock();
  readonly frames: ObserverFrame[] = [];
  readonly writes: Write[] = [];
  readonly posts: Post[] = [];
  readonly edits: { readonly nonce: string; readonly resolution: CardResolution }[] = [];
  /** What was done to the process beside answering. */
  readonly doors: string[] = [];
  readonly driver: PermissionDriver;
  hardMs = 7_200_000;

  constructor(rule: PermissionRule = { policy: 'ask', askMs: 300_000 }, parts: Partial<DriverParts> = {}) {
    let count = 0;
    // A clock for stamps that has nothing to do with the other.
    const stamps: Clock = { now: () => milliseconds(STAMP * 1000), wake: () => { throw new Error('a deadline by the clock for stamps'); } };
    this.driver = new PermissionDriver({
      agent, owner, rule, agentIndex: 0, clock: stamps, steadyClock: this.clock,
      random: { bytes: (length) => new Uint8Array(length).fill(count += 1), fraction: () => 0 },
      clean: (text) => text,
      originOf: () => ({ channelId: channel, initiator: owner, trigger, heartbeat: false }),
      observerActive: () => true, relayReady: () => true,
      link: {
        tell: (frame) => { this.frames.push(frame); },
        frameBytes: ({ payload }) => payload.length + 500,
        cards: {
          post: ({ card }, timeoutMs) => new Promise((resolve) => {
            this.posts.push({ card, timeoutMs, end: (fate) => settled(() => { resolve(fate); }) });
          }),
          resolve: (nonce, resolution) => { this.edits.push({ nonce, resolution }); },
        },
      },
      ...parts,
    }, {
      suspendIdle: (sessionId) => { this.doors.push(`suspend ${sessionId}`); },
      resumeIdle: (sessionId) => { this.doors.push(`resume ${sessionId}`); },
      poison: (cause: PoisonCause) => { this.doors.push(`poison ${cause}`); },
    });
  }

  ask(id: string | number = 7, more: Partial<IncomingRequest> & { readonly cancelling?: boolean; readonly turnId?: string } = {}): void {
    const { cancelling = false, turnId = 'turn-1', ...rest } = more;
    const sessionId = rest.sessionId ?? 'session-1';
    const params = { sessionId, title: 'Run a command', options: OPTIONS };
    const line = `{"jsonrpc":"2.0", "id":${JSON.stringify(id)},"method":"session/request_permission"}`;
    this.driver.requested({
      id, sessionId, params, line,
      turn: { turnId, cancelling, hardDeadline: later(this.clock.now(), this.hardMs) }, ...rest,
    }, (answer) => new Promise((resolve) => {
      const said = JSON.stringify({ jsonrpc: '2.0', id, result: { outcome: answer } });
      this.writes.push({ id, answer, end: (written) => settled(() => { resolve({ written, line: said }); }) });
    }));
  }

  /** The nonce of the `index`th challenge. */
  nonce(index = 0): string {
    return this.frames.filter(({ kind }) => kind === 'acp_read')[index]?.authorization?.requestNonce ?? '';
  }

  decide(optionId: string, more: Partial<Parameters<typeof deciding>[0]> = {}): void {
    this.driver.decide(deciding({ nonce: this.nonce(), optionId, receivedAt: seconds(STAMP), ...more }));
  }

  /** One word for each frame. */
  get told(): readonly string[] {
    return this.frames.map(({ kind, authorization, payload }) =>
      [kind, authorization?.reason ?? (authorization?.actionable === true ? 'actionable' : payload)].join(' '));
  }
}

/** Lets everything that waits on `act` go on. */
async function settled(act: () => void): Promise<void> {
  act();
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
}
