/**
 * Drives the permission machine of one agent process: performs its commands in order, feeds back what came of them one
 * input at a time, keeps its one timer. Decides nothing of its own but when a cancel is told (see `#owed`).
 *
 * in: requests and ends of turns from `src/acp`, decisions, the fate of cards. out: one answer for each request, frames
 * for the owner, cards. Deadlines go by the steady clock, `expiresAt` by that of stamps. NIP-AO "One-write / one-observe".
 */
import type { IncomingRequest, PermissionDesk, PermissionDoors, PermissionReply } from '../acp/permission-ports.ts';
import type { AgentLink, ObserverFrame } from '../broker/ports.ts';
import { secondsOf, unreachable } from '../model/index.ts';
import type { ChannelId, Clock, EventId, Milliseconds, Pubkey, Random } from '../model/index.ts';
import { sameText } from './decision.ts';
import { bindingOf } from './entry.ts';
import type { Authorization, Binding, Decided, PermissionCommand, PermissionInput } from './entry.ts';
import { decisionFrame, permissionFrame } from './frames.ts';
import { openPermissions, permissionDeadline, stepPermission } from './machine.ts';
import type { PermissionState } from './machine.ts';
import type { SynchronousPolicy } from './policy.ts';

/** What the supervisor knows of a turn beside its process. */
export interface TurnOrigin {
  readonly channelId?: ChannelId;
  /** The author of the first event of the batch (NIP-AO D7), and that event. */
  readonly initiator?: Pubkey;
  readonly trigger?: EventId;
  readonly heartbeat: boolean;
}

export interface PermissionRule {
  readonly policy: SynchronousPolicy | 'ask';
  /** For the owner's decision; at most NIP-AO's 300 s. */
  readonly askMs: number;
}

export interface DriverParts {
  readonly agent: Pubkey;
  readonly owner?: Pubkey;
  readonly rule: PermissionRule;
  readonly link: Pick<AgentLink, 'tell' | 'frameBytes' | 'cards'>;
  /** The process slot, for frames. */
  readonly agentIndex: number;
  /** A text without what nobody may read; the same text where it holds nothing of the kind. */
  readonly clean: (text: string) => string;
  readonly originOf: (turnId: string) => TurnOrigin | undefined;
  readonly observerActive: () => boolean;
  readonly relayReady: () => boolean;
  /** For stamps. */
  readonly clock: Clock;
  /** For deadlines. */
  readonly steadyClock: Clock;
  readonly random: Random;
}

const INPUT_OF = { shown: 'card_ok', refused: 'card_refused', unanswered: 'card_unanswered' } as const;

/** What belongs to a request and is no part of a decision. */
interface Kept {
  readonly line: string;
  readonly reply: PermissionReply;
  answer?: string;
}

export class PermissionDriver implements PermissionDesk {
  readonly #parts: DriverParts;
  readonly #process: PermissionDoors;
  readonly #kept = new Map<string, Kept>();
  /** Turns whose cancel is told when none of their answers is on its way any more. */
  readonly #owed = new Set<string>();
  #state: PermissionState;
  #inputs: PermissionInput[] = [];
  #running = false;
  #alarm: { readonly at: Milliseconds; readonly cancel: () => void } | undefined;

  constructor(parts: DriverParts, process: PermissionDoors) {
    const { agent, owner } = parts;
    this.#parts = parts;
    this.#process = process;
    this.#state = openPermissions({ agent, ...(owner === undefined ? {} : { owner }) });
  }

  requested(request: IncomingRequest, reply: PermissionReply): void {
    const { rule, observerActive, relayReady, clock, originOf, clean } = this.#parts;
    const { line: asItStood, turn, ...raw } = request;
    const line = clean(asItStood);
    // A card is read by a whole channel: it is made of no more than a frame says.
    const asked = line === asItStood ? raw : { ...raw, params: paramsIn(line) };
    const nonce = this.#newNonce();
    this.#kept.set(nonce, { line, reply });
    this.#feed({
      type: 'requested', request: asked, nonce, askMs: rule.askMs,
      // A process that is asked to end is granted nothing more, under whatever policy.
      policy: this.#state.status === 'open' ? rule.policy : 'reject',
      observerActive: observerActive(), relayReady: relayReady(), at: secondsOf(clock.now()),
      frameBytes: (authorization) => this.#parts.link.frameBytes(this.#frame('acp_read', line, { ...asked, ...turn, ...(turn && originOf(turn.turnId)) }, authorization)),
      ...(turn && { turn: { heartbeat: false, ...originOf(turn.turnId), ...turn } }),
    });
  }

  turnCancelled(turnId: string, overtime: boolean): void {
    if (!overtime) return this.#feed({ type: 'cancelled', turnId });
    // Its requests are over time as well, and a no is on its way to each: no cancel meets them there.
    this.#feed({ type: 'expired' });
    this.#owe(turnId);
  }

  turnOver(turnId: string): void {
    // What the agent answered to may not be told as written yet.
    this.#owe(turnId);
  }

  stopping(): void {
    this.#feed({ type: 'drained' });
  }

  ended(): void {
    this.#feed({ type: 'process_ended' });
  }

  /** True from the end of the process on, or when it is being replaced. */
  get isOver(): boolean {
    return this.#state.status === 'closed';
  }

  /** Whether a request waits under this nonce. */
  waitsFor(nonce: string): boolean {
    return this.#state.entries.filter((entry) => entry.status !== 'writing' && sameText(bindingOf(entry).nonce, nonce)).length > 0;
  }

  /** Requests of that turn that the owner has not decided yet. */
  waitingIn(turnId: string): number {
    return this.#state.entries.filter((entry) => entry.status !== 'writing' && entry.ask.binding.turnId === turnId).length;
  }

  decide(decided: Decided): void {
    this.#feed(decided);
  }

  #feed(input: PermissionInput): void {
    this.#inputs.push(input);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift() ?? this.#due()) {
        const { state, commands } = stepPermission(this.#state, next, this.#parts.steadyClock.now());
        this.#state = state;
        for (const command of commands) this.#perform(command, next);
      }
    } finally {
      this.#running = false;
      this.#arm();
    }
  }

  #perform(command: PermissionCommand, input: PermissionInput): void {
    const { link } = this.#parts;
    switch (command.type) {
      case 'emit_challenge':
        return link.tell(this.#frame('acp_read', this.#of(command.binding).line, command.binding, command.authorization));
      case 'emit_answer':
        link.tell(this.#frame('acp_write', this.#parts.clean(this.#of(command.binding).answer ?? ''), command.binding, command.authorization));
        this.#kept.delete(command.binding.nonce);
        return;
      case 'emit_terminal':
        link.tell(this.#frame('permission_terminal', JSON.stringify({ id: command.binding.id }), command.binding, command.authorization));
        this.#kept.delete(command.binding.nonce);
        return;
      case 'write_answer':
        void this.#write(command);
        return;
      case 'publish_card':
        void this.#publish(command);
        return;
      case 'resolve_card':
        return link.cards.resolve(command.ask.binding.nonce, command.resolution);
      case 'poison':
        return this.#process.poison(input.type === 'cancelled' ? 'cancelled' : 'unread');
      case 'suspend_idle':
        return this.#process.suspendIdle(command.sessionId);
      case 'resume_idle':
        return this.#process.resumeIdle(command.sessionId);
      case 'control_result':
        return link.tell(decisionFrame(command));
      default:
        return unreachable(command);
    }
  }

  async #write({ binding, answer }: Extract<PermissionCommand, { type: 'write_answer' }>): Promise<void> {
    const { nonce } = binding;
    const kept = this.#of(binding);
    const { written, line } = await kept.reply(answer);
    kept.answer = line;
    this.#feed({ type: written ? 'written' : 'write_failed', nonce });
  }

  async #publish({ ask, publishBy }: Extract<PermissionCommand, { type: 'publish_card' }>): Promise<void> {
    const { link, steadyClock } = this.#parts;
    const { card, binding: { nonce, channelId }, trigger } = ask;
    const timeoutMs = Math.max(0, publishBy - steadyClock.now());
    const order = { card, channelId, ...(trigger === undefined ? {} : { trigger }) };
    // What could not even be signed was not sent.
    const fate = await link.cards.post(order, timeoutMs).catch(() => 'refused' as const);
    this.#feed({ type: INPUT_OF[fate], nonce });
  }

  #owe(turnId: string): void {
    if (!this.#state.entries.some((entry) => bindingOf(entry).turnId === turnId)) return;
    this.#owed.add(turnId);
    const due = this.#due();
    if (due !== undefined) this.#feed(due);
  }

  /** A cancel that waited for the writes of its turn. */
  #due(): PermissionInput | undefined {
    const turnId = [...this.#owed].find((one) =>
      !this.#state.entries.some((entry) => entry.status === 'writing' && bindingOf(entry).turnId === one));
    if (turnId === undefined) return undefined;
    this.#owed.delete(turnId);
    return { type: 'cancelled', turnId };
  }

  #arm(): void {
    const at = permissionDeadline(this.#state);
    if (this.#alarm?.at === at) return;
    this.#alarm?.cancel();
    this.#alarm = at === undefined ? undefined : { at, cancel: this.#parts.steadyClock.wake(at, () => {
      this.#alarm = undefined;
      this.#feed({ type: 'expired' });
    }) };
  }

  #of({ nonce }: Binding): Kept {
    const kept = this.#kept.get(nonce);
    if (kept === undefined) throw new TypeError('permission: a command for a request that is over');
    return kept;
  }

  #frame(kind: string, payload: string, place: Parameters<typeof permissionFrame>[2], authorization: Authorization): ObserverFrame {
    return permissionFrame(kind, payload, { ...place, agentIndex: this.#parts.agentIndex }, authorization);
  }

  /** A UUID of version 4, as Buzz's nonces are. */
  #newNonce(): string {
    const bytes = Buffer.from(this.#parts.random.bytes(16));
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}

function paramsIn(line: string): Readonly<Record<string, unknown>> {
  const frame: unknown = JSON.parse(line);
  const params: unknown = typeof frame === 'object' && frame !== null && 'params' in frame ? frame.params : undefined;
  return typeof params === 'object' && params !== null ? { ...params } : {};
}
