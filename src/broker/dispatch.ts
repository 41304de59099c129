/**
 * The road of one action, from received bytes to the text of a verdict: who asks, what, may it, and what came of it.
 * The order of the checks is the spec's: no request id, no verdict; no credential, no word about anything else; and a
 * result is released only to a session that is still live and permitted.
 * NIP-BA "Session and transport", "Result", "Execution and retries" 2. HTTP is `host.ts`.
 */
import { unreachable } from '../model/index.ts';
import type { ChannelId, Log, Pubkey } from '../model/index.ts';
import { decide } from './actions/index.ts';
import type { Decision, Done } from './actions/index.ts';
import type { Agent, Work } from './agent.ts';
import { ATTACHING, failed, indeterminate } from './journal/index.ts';
import type { Journal, Plan, Settled, Verdict } from './journal/index.ts';
import type { Session, Sessions } from './sessions.ts';
import { readRequest, writeResult } from './wire/index.ts';
import type { ActionName, BrokerRequest } from './wire/index.ts';

/** `uncorrelated`: no verdict is possible; `busy`: nothing was looked at, the same bytes may come again. */
export type Reply =
  | { readonly type: 'verdict'; readonly text: string }
  | { readonly type: 'uncorrelated' | 'busy'; readonly detail: string };

export type Dispatch = (token: string | undefined, body: Uint8Array) => Promise<Reply>;

export interface DispatchOptions {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly journal: Journal;
  readonly agentOf: (principal: Pubkey) => Agent | undefined;
  /** An agent that is not there, and will be in a moment. */
  readonly isComing: (principal: Pubkey) => boolean;
  readonly log: Log;
}

/** Actions of one principal under way at once; beyond it the client is told to come back. */
export const MAX_ACTIONS_PER_PRINCIPAL = 64;

/** What reads, or tells of the moment alone: afterwards everything is as it was. */
const PASSING: ReadonlySet<ActionName> = new Set<ActionName>([
  'channel.read', 'storage.address', 'storage.get', 'presence.set', 'typing.set', 'observer.emit', 'liveness.ping',
]);

const UNAUTHENTICATED = 'the credential is missing, unknown, expired or revoked';
const STARTING = 'the agent is being started';
/** What is stored is told again to whoever may ask by then, and is not about that session. */
const WITHDRAWN = 'the permission was withdrawn before the action had any effect; nothing was done';

export function openDispatch({ sessions, journal, agentOf, isComing, log }: DispatchOptions): Dispatch {
  const underWay = new Map<Pubkey, number>();

  return async (token, body) => {
    const reading = readRequest(body);
    if (!reading.ok && reading.requestId === undefined) return { type: 'uncorrelated', detail: reading.detail };
    const requestId = reading.ok ? reading.request.requestId : (reading.requestId ?? '');
    const reply = (verdict: Verdict, replayed = false): Reply => ({
      type: 'verdict',
      // The spread comes last: an object that still grows after one is slow to make and slow to read.
      text: writeResult({ requestId, replayed, ...verdict }),
    });

    const session = token === undefined ? undefined : sessions.find(token);
    const agent = session === undefined ? undefined : agentOf(session.principal);
    // Nothing is wrong with the credential: a verdict would say that there is, and end whoever believes it.
    if (session !== undefined && agent === undefined && isComing(session.principal)) return { type: 'busy', detail: STARTING };
    if (session === undefined || agent === undefined || !isBoundTo(session, agent)) {
      return reply(failed('unauthenticated', UNAUTHENTICATED));
    }
    if (!reading.ok) return reply(failed(reading.code, reading.detail));
    const { request, digest } = reading;
    const refusal = (): Verdict | undefined => refusalOf(session, agent, request);
    const refused = refusal();
    if (refused !== undefined) return reply(refused);

    const count = underWay.get(session.principal) ?? 0;
    if (count >= MAX_ACTIONS_PER_PRINCIPAL)
      return { type: 'busy', detail: `${count} actions of this agent are under way` };
    underWay.set(session.principal, count + 1);
    if (!PASSING.has(request.action)) session.countTrace();
    const work = agent.begin(session);
    const decided: { decision?: Decision; done?: Done } = {};
    try {
      const turnId = session.turn()?.turnId;
      const settled = await journal.run({
        key: { community: agent.namespace.community, principal: agent.namespace.principal, requestId },
        digest,
        action: request.action,
        ...(turnId === undefined ? {} : { turnId }),
        plan: async () => {
          decided.decision = await decide(request, work.context);
          return journalPlan(decided.decision, agent, requestId);
        },
        withdrawn: () => (refusal() === undefined ? lapsed(decided.decision) : failed('action_failed', WITHDRAWN)),
      });
      log.debug('broker: an action ended', described(request, session, settled));
      const withheld = refusal();
      if (withheld !== undefined) return reply(withhold(settled, withheld));
      const { verdict, replayed, eventId } = settled;
      if (verdict.status === 'succeeded' && !replayed) decided.done = eventId === undefined ? {} : { eventId };
      return reply(agent.memory.reopen(requestId, verdict), replayed);
    } finally {
      underWay.set(session.principal, (underWay.get(session.principal) ?? 1) - 1);
      follow(work, decided)?.catch((error: unknown) => {
        log.error('broker: what follows an action failed', { action: request.action, error });
      });
    }
  };
}

/** Why what was decided does not hold any more, at the effect's edge. */
function lapsed(decision: Decision | undefined): Verdict | undefined {
  const refused = decision !== undefined && 'holds' in decision ? decision.holds() : undefined;
  return refused === undefined ? undefined : failed(refused.code, refused.message);
}

/** What a decision wants to be told, after the answer: nobody waits for it but those who want the same record. */
function follow(work: Work, { decision, done }: { decision?: Decision; done?: Done }): Promise<void> | undefined {
  work.settled();
  if (decision !== undefined && 'ended' in decision) return decision.ended(done).finally(() => { work.end(); });
  work.end();
  return undefined;
}

/** Asked before the claim, at the effect's edge, and before the release of a result. */
function refusalOf(session: Session, agent: Agent, { action, args }: BrokerRequest): Verdict | undefined {
  if (!session.live() || !isBoundTo(session, agent)) return failed('unauthenticated', UNAUTHENTICATED);
  const { actions, channels } = session.scope;
  if (actions?.has(action) === false) return failed('unauthorized', `${action} is not in the scope of this credential`);
  const channelId: ChannelId | undefined = 'channelId' in args ? args.channelId : undefined;
  if (channelId === undefined) return undefined;
  if (channels?.has(channelId) === false) return failed('unauthorized', 'the channel is not in the scope of this credential');
  if (agent.permits(channelId)) return undefined;
  return failed('unauthorized', 'the channel is not among those this agent is permitted');
}

/** A credential is never reassigned: an agent that has another owner or relay by now is not the one it was issued for. */
function isBoundTo({ community, owner }: Session, { namespace, identity }: Agent): boolean {
  return community === namespace.community && owner === identity.owner;
}

/**
 * A result that may not be released any more. `failed` is true of a replay, and of whatever signed no event; for an
 * execution that went further it would deny an effect, so nothing is said of it at all ("Execution and retries" 6).
 */
function withhold(settled: Settled, refusal: Verdict): Verdict {
  const harmless = settled.replayed || settled.verdict.status === 'failed' || settled.eventId === undefined;
  return harmless
    ? refusal
    : indeterminate('outcome_unknown', 'the permission was withdrawn while the action was under way');
}

function journalPlan(decision: Decision, agent: Agent, requestId: string): Plan {
  switch (decision.type) {
    case 'publish':
      return { type: 'publish', action: decision.action, event: agent.publisher.compose(decision.draft) };
    case 'attach': {
      const { draft, accepted, writes, release } = decision;
      return { type: 'publish', action: ATTACHING, event: agent.publisher.compose(draft), accepted, writes, release };
    }
    case 'answer': {
      const { writes, release } = decision;
      const verdict = agent.memory.shut(requestId, decision.verdict);
      return { type: 'end', verdict, ...(writes && { writes }), ...(release && { release }) };
    }
    case 'refuse':
      return { type: 'end', verdict: failed(decision.code, decision.message) };
    default:
      return unreachable(decision);
  }
}

function described({ action }: BrokerRequest, { sessionId }: Session, settled: Settled): Readonly<Record<string, unknown>> {
  const { verdict, replayed, eventId } = settled;
  const code = verdict.status === 'succeeded' ? undefined : verdict.error.code;
  return { action, session: sessionId, status: verdict.status, code, replayed, eventId };
}
