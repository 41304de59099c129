/** What the world of the permission walk has seen of each request, and the rules that each command must keep. */
import { later } from '../../src/model/index.ts';
import type { Milliseconds } from '../../src/model/index.ts';
import type { Binding, PermissionCommand, PermissionInput, Requested } from '../../src/permission/entry.ts';
import { owner } from './asks.ts';

export interface Case {
  readonly request: Requested;
  readonly publishBy: Milliseconds;
  readonly deadline: Milliseconds;
  readonly challenges: number;
  /** The challenge said that the owner can act. */
  readonly asked: boolean;
  readonly card: 'none' | 'sent' | 'visible' | 'refused' | 'unknown';
  /** The relay's OK came in time. */
  readonly taken: boolean;
  /** The first decision that was the owner's, for this request, in time, and one of the card's options. */
  readonly choice: string | undefined;
  readonly wrote: string | undefined;
  readonly write: 'out' | 'confirmed' | 'failed';
  readonly reason: string | undefined;
  readonly answers: number;
  readonly terminals: number;
  readonly edits: number;
}

export interface Book {
  readonly now: Milliseconds;
  readonly cases: ReadonlyMap<string, Case>;
  /** Sessions whose idle timer stands still. */
  readonly still: ReadonlySet<string>;
  readonly cancelled: ReadonlySet<string>;
  readonly poisoned: boolean;
  readonly dead: boolean;
  readonly draining: boolean;
  readonly wrong: string | undefined;
}

export function newCase(request: Requested, { now }: Book): Case {
  const patience = later(now, 300_000);
  const hard = request.turn?.hardDeadline ?? now;
  const deadline = hard < patience ? hard : patience;
  const publishing = later(now, 10_000);
  return {
    request, deadline, publishBy: publishing < deadline ? publishing : deadline, challenges: 0, asked: false, card: 'none', taken: false,
    choice: undefined, wrote: undefined, write: 'out', reason: undefined, answers: 0, terminals: 0, edits: 0,
  };
}

/** The book after one command; `wrong` names the rule that it breaks. */
export function perform(book: Book, command: PermissionCommand, input: PermissionInput): Book {
  switch (command.type) {
    case 'poison':
      return blame({ ...book, poisoned: true }, book.poisoned ? 'the process is poisoned twice' : undefined);
    case 'suspend_idle':
      return blame({ ...book, still: new Set([...book.still, command.sessionId]) }, book.still.has(command.sessionId) ? 'an idle timer is stopped twice' : undefined);
    case 'resume_idle': {
      const still = new Set([...book.still].filter((one) => one !== command.sessionId));
      return blame({ ...book, still }, book.still.has(command.sessionId) ? undefined : 'an idle timer goes on that was not stopped');
    }
    case 'control_result':
      return blame(book, resultWrong(book, command, input));
    case 'publish_card':
    case 'resolve_card':
      return ofRequest(book, command.ask.binding, command);
    case 'emit_challenge':
    case 'write_answer':
    case 'emit_answer':
    case 'emit_terminal':
      return ofRequest(book, command.binding, command);
    default:
      throw new TypeError('unreachable');
  }
}

type OfRequest = Exclude<PermissionCommand, { readonly type: 'poison' | 'suspend_idle' | 'resume_idle' | 'control_result' }>;

function ofRequest(book: Book, binding: Binding, command: OfRequest): Book {
  const one = book.cases.get(binding.nonce);
  if (one === undefined) return blame(book, 'a command for a nonce that was never given');
  const { request: { request, turn } } = one;
  const isBound = binding.id === request.id && binding.sessionId === request.sessionId && binding.turnId === turn?.turnId && binding.channelId === turn?.channelId;
  const [change, wrong] = effect(book, one, command);
  const cases = new Map([...book.cases, [binding.nonce, { ...one, ...change }]]);
  return blame({ ...book, cases }, isBound ? wrong : 'a command is bound to another request than its nonce');
}

/** What the command changes for its request, and the rule that it breaks. */
function effect(book: Book, one: Case, command: OfRequest): readonly [Partial<Case>, string | undefined] {
  switch (command.type) {
    case 'emit_challenge': {
      const asked = command.authorization.actionable;
      return [{ challenges: one.challenges + 1, asked }, one.challenges > 0 ? 'a request has two challenges' : askWrong(book, one, asked, command.authorization.expiresAt)];
    }
    case 'publish_card':
      return [{ card: 'sent' }, one.asked && one.card === 'none' ? undefined : 'a card without its one actionable challenge'];
    case 'write_answer': {
      const wrote = command.answer.outcome === 'selected' ? command.answer.optionId : 'cancelled';
      return [{ wrote }, writeWrong(book, one, wrote)];
    }
    case 'emit_answer': {
      const reason = command.authorization.reason ?? '';
      return [{ answers: one.answers + 1, reason }, answerWrong(one, reason) ?? (command.authorization.actionable ? 'an answer is actionable' : undefined)];
    }
    case 'emit_terminal':
      if (one.answers + one.terminals > 0) return [{}, 'a terminal for a request that has ended'];
      return [{ terminals: 1 }, command.authorization.reason === 'uncertain' ? undefined : 'a terminal is not uncertain'];
    case 'resolve_card':
      return [{ edits: one.edits + 1 }, editWrong(one, command.resolution)];
    default:
      throw new TypeError('unreachable');
  }
}

function askWrong(book: Book, one: Case, asked: boolean, expiresAt: number | undefined): string | undefined {
  if (!asked) return expiresAt === undefined ? undefined : 'a challenge that nobody can act on has a deadline';
  const { turn, policy, at } = one.request;
  if (policy !== 'ask') return 'the owner is asked under a policy that does not ask';
  if (turn?.initiator !== owner || turn.heartbeat || turn.cancelling) return 'the owner is asked for a turn that is not theirs';
  if (book.poisoned || book.dead || book.draining) return 'the owner is asked for a process that ends';
  if ([...book.cases.values()].some((other) => other !== one && other.asked && !other.taken && other.wrote === undefined && other.terminals === 0)) {
    return 'a second card while the first waits for its relay';
  }
  return expiresAt !== undefined && expiresAt <= at + (one.deadline - book.now) / 1000 ? undefined : 'the owner is told of more time than there is';
}

function writeWrong(book: Book, one: Case, wrote: string): string | undefined {
  if (book.poisoned || book.dead) return 'a write after the poison';
  if (one.wrote !== undefined || one.terminals > 0) return 'a second answer is written';
  if (one.challenges !== 1) return 'a write without its challenge';
  if (wrote === 'cancelled' || wrote === 'no') return undefined;
  if (one.request.policy === 'allow') return wrote === 'yes' ? undefined : 'the allow policy allows for good';
  if (wrote !== one.choice) return 'an allow without a live, matching decision for an offered option';
  if (!one.taken) return 'an allow without the relay\'s OK';
  const { turn } = one.request;
  return turn !== undefined && book.cancelled.has(turn.turnId) ? 'an allow after the cancel' : undefined;
}

function answerWrong(one: Case, reason: string): string | undefined {
  if (one.write !== 'confirmed') return 'an acp_write before its write is confirmed';
  if (one.answers + one.terminals > 0) return 'a second end of one request';
  const { choice, wrote, asked, request } = one;
  switch (reason) {
    case 'applied':
      return choice !== undefined && wrote === choice ? undefined : 'applied, and no decision was written';
    case 'timed_out':
      return wrote === 'no' && asked ? undefined : 'a timeout does not deny';
    case 'cancelled':
      return wrote === 'cancelled' ? undefined : 'a cancel does not cancel';
    case 'rejected':
      return wrote === 'no' && !asked ? undefined : 'rejected, and not denied at once';
    case 'allowed':
      return wrote === 'yes' && request.policy === 'allow' ? undefined : 'allowed without the policy';
    default:
      return 'an answer has a reason that NIP-AO does not know';
  }
}

function editWrong(one: Case, { outcome, chosenOptionId }: { readonly outcome: string; readonly chosenOptionId: string | null }): string | undefined {
  if (one.card === 'none' || one.card === 'refused') return 'an edit of a card that nobody sees';
  if (one.edits > 0) return 'a card is resolved twice';
  if (one.answers + one.terminals !== 1) return 'a card is resolved before its request';
  const says = one.terminals === 1 ? 'cancelled' : one.reason;
  if (outcome !== says) return 'the card says another end than the frame';
  return chosenOptionId === (outcome === 'applied' ? one.choice : null) ? undefined : 'the card says another choice than the owner\'s';
}

function resultWrong(book: Book, { status, nonce }: Extract<PermissionCommand, { type: 'control_result' }>, input: PermissionInput): string | undefined {
  if (input.type !== 'decided' || input.nonce !== nonce) return 'a control_result for nothing';
  if (input.sender !== owner || input.createdAt !== input.receivedAt) return 'a stranger is answered';
  const one = book.cases.get(nonce);
  const wasLive = one?.asked === true && one.wrote === undefined && one.terminals === 0 && book.now < (one.taken ? one.deadline : one.publishBy)
    && input.channelId === one.request.turn?.channelId;
  return (status === 'sent') === wasLive ? undefined : 'a control_result says sent where nothing waits, or the reverse';
}

function blame(book: Book, wrong: string | undefined): Book {
  return wrong === undefined || book.wrong !== undefined ? book : { ...book, wrong };
}
