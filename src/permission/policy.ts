/**
 * The answers to `session/request_permission` that need no owner: the preflight of every policy, and the policies
 * `reject` and `allow`. Pure. NIP-AO "Permission acp_read frames", "Synchronous policy outcomes".
 *
 * Choices are made by an option's `kind`, never by its id, name or position. What grants for good (`allow_always`) is
 * never chosen.
 */
import type { PermissionAnswer } from '../acp/permission-ports.ts';
import { excerpt, refuse, unreachable } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';

/** `ask`, which waits for the owner, has a machine of its own. */
export type SynchronousPolicy = 'reject' | 'allow';

/** NIP-AO "Synchronous policy outcomes": the words of the authorization envelope. */
export type PolicyReason = 'rejected' | 'allowed' | 'allow_failed_closed';

export interface PolicyDecision {
  readonly answer: PermissionAnswer;
  readonly reason: PolicyReason;
  /** For people: why it was denied. Absent when it was allowed. */
  readonly detail?: string;
}

export interface PermissionOption {
  readonly optionId: string;
  readonly kind: string;
  readonly name: string;
}

export type PreflightCode = 'no_options' | 'too_many_options' | 'bad_option_id' | 'duplicate_option_id' | 'bad_option';

/** Options of one request. Buzz's bound; real agents offer two to five. */
const MAX_OPTIONS = 16;
export const CANCELLED: PermissionAnswer = { outcome: 'cancelled' };

/** Decides one request from its raw `params`. Every request gets an answer, whatever it holds. */
export function decidePermission(policy: SynchronousPolicy, params: Readonly<Record<string, unknown>>): PolicyDecision {
  const checked = preflight(params);
  // NIP-AO "Synchronous policy outcomes": preflight denial is `rejected` under every policy.
  if (!checked.ok) return { answer: denial(params['options']), reason: 'rejected', detail: checked.detail };
  switch (policy) {
    case 'reject':
      return { answer: denial(checked.options), reason: 'rejected', detail: 'policy=reject' };
    case 'allow':
      return allow(checked.options);
    default:
      return unreachable(policy);
  }
}

/**
 * The options when they can be chosen from; else the first violation, in Buzz's order: a nonempty list, at most 16,
 * each id a nonempty string, all different, each with a nonempty kind and name.
 */
export function preflight(
  params: Readonly<Record<string, unknown>>,
): { readonly ok: true; readonly options: readonly PermissionOption[] } | Refusal<PreflightCode> {
  const offered = params['options'];
  if (!Array.isArray(offered) || offered.length === 0) {
    return refuse('no_options', 'options: expected a nonempty array');
  }
  if (offered.length > MAX_OPTIONS) {
    return refuse('too_many_options', `options: expected at most ${MAX_OPTIONS}, found ${offered.length}`);
  }
  const options = offered.map(readOption);
  const unnamed = options.findIndex(({ optionId }) => optionId === '');
  if (unnamed >= 0) return refuse('bad_option_id', `options[${unnamed}].optionId: expected a nonempty string`);
  const ids = options.map(({ optionId }) => optionId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    return refuse('duplicate_option_id', `options: expected different optionIds, found ${excerpt(twice)} twice`);
  }
  const bad = options.findIndex(({ kind, name }) => kind === '' || name === '');
  if (bad >= 0) return refuse('bad_option', `options[${bad}]: expected a nonempty kind and name`);
  return { ok: true, options };
}

function allow(options: readonly PermissionOption[]): PolicyDecision {
  const [once, ...others] = options.filter(({ kind }) => kind === 'allow_once');
  if (once !== undefined && others.length === 0) {
    return { answer: { outcome: 'selected', optionId: once.optionId }, reason: 'allowed' };
  }
  // NIP-AO: "fail-closed, no unique allow_once option".
  const detail = once === undefined ? 'no option of kind allow_once' : 'more than one option of kind allow_once';
  return { answer: denial(options), reason: 'allow_failed_closed', detail };
}

/**
 * The first option of kind reject_once, as an agent takes it for a "no" and goes on; `cancelled` where there is none,
 * or where its id does not name it alone: selecting an id that is also an allow option's could grant.
 */
export function denial(offered: unknown): PermissionAnswer {
  const options = Array.isArray(offered) ? offered.map(readOption) : [];
  const reject = options.find(({ kind }) => kind === 'reject_once');
  if (reject === undefined || reject.optionId === '') return CANCELLED;
  const alone = options.every(({ optionId, kind }) => optionId !== reject.optionId || kind === 'reject_once');
  return alone ? { outcome: 'selected', optionId: reject.optionId } : CANCELLED;
}

/** Members that are no strings read as empty, which no check accepts. */
function readOption(value: unknown): PermissionOption {
  const members: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const text = (member: unknown): string => (typeof member === 'string' ? member : '');
  return { optionId: text(members['optionId']), kind: text(members['kind']), name: text(members['name']) };
}
