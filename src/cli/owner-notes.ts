/** Notes of the owner's desk as lines for people and as JSON for scripts. Pure; what an agent wrote is escaped. */
import { excerpt, shortId, unreachable } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import type { Note } from '../owner/index.ts';
import { isoOf, permissionJson, permissionLines, placeText, shortNonce } from './owner-text.ts';
import { plural, safe } from './print.ts';

type NameOf = (agent: Pubkey) => string;

/** Scalars of a line of text; the desk cuts lines before. */
const MAX_TEXT = 500;

/** `nowMs` for what is left of a deadline. */
export function noteLines(note: Note, nameOf: NameOf, nowMs: number): readonly string[] {
  const time = (isoOf(note.at) ?? '').slice(11, 19);
  const turn = note.turnId === null ? '' : ` ${safe(shortId(note.turnId))}`;
  const [first = '', ...more] = wordsOf(note, nameOf, nowMs);
  return [`${time} ${safe(nameOf(note.agent))} ${placeText(note.channelId)}${turn}: ${first}`, ...more];
}

/** The note with the agent's name, its time as a text, and a request as `skep owner pending --json` tells it. */
export function noteJson(note: Note, nameOf: NameOf): object {
  const { at, type, agent, ...rest } = note;
  const permission = 'permission' in note ? { permission: permissionJson(note.permission, nameOf) } : {};
  return { type, at: isoOf(at), agent, name: nameOf(agent), ...rest, ...permission };
}

function wordsOf(note: Note, nameOf: NameOf, nowMs: number): readonly string[] {
  switch (note.type) {
    case 'turn_started':
      return [`turn begins${note.events === null ? '' : `, ${plural(note.events, 'event')}`}${note.source === null ? '' : ` (${safe(note.source)})`}`];
    case 'session_resolved':
      return [`session ${safe(note.sessionId ?? '?')}${note.isNew === true ? ', new' : ''}`];
    case 'text':
      return [`${note.speaker === 'agent' ? 'says' : 'thinks'}: ${excerpt(note.text, MAX_TEXT)}`];
    case 'tool':
      return [`tool ${safe(note.title)}: ${safe(note.status)}`];
    case 'turn_failed':
      return [`turn fails: ${[note.outcome, note.error].flatMap((text) => (text === null ? [] : [safe(text)])).join(', ')}`];
    case 'turn_completed':
      return [`turn ends${note.stopReason === null ? '' : ` (${safe(note.stopReason)})`}`];
    case 'control_result':
      return [`${wordOf(note.payload['type'])}: ${wordOf(note.payload['status'])}`];
    case 'launch_refused':
      return [`is not started: ${note.detail === null ? '?' : excerpt(note.detail, MAX_TEXT)}`];
    case 'gap':
      return [`${plural(note.missing, 'frame')} did not arrive`];
    case 'permission_pending':
      if (!note.matches) return [`a card for ${shortNonce(note.permission.nonce)} that does not agree with what the agent reported: it cannot be decided here`];
      return ['asks for permission', ...permissionLines(note.permission, nameOf, nowMs)];
    case 'permission_waits':
      return [`${shortNonce(note.permission.nonce)} waits, ${note.leftSec} s left`];
    case 'permission_ended':
      return [`${shortNonce(note.nonce)} ended: ${safe(note.outcome)}${choiceText(note)}`];
    case 'permission_unasked':
      return [`asked for permission, answered by policy${note.reason === null ? '' : `: ${safe(note.reason)}`}`];
    default:
      return unreachable(note);
  }
}

/** By the place of the option on the card: labels are the agent's. */
function choiceText({ chosenOptionId, permission }: Extract<Note, { type: 'permission_ended' }>): string {
  const index = permission?.card?.card.options.findIndex(({ optionId }) => optionId === chosenOptionId) ?? -1;
  return index < 0 ? '' : `, ${index === 0 ? 'approved' : 'denied'}`;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? safe(value) : '?';
}
