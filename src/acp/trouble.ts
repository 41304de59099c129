/**
 * What an agent's error says of the provider of its model: that a login is needed, or that it takes no more requests for
 * now. Told by the wire where that is enough, and by the words that the program's profile knows; anything else is an
 * error like any other. Pure.
 *
 * The wire: ACP's -32000 (authentication required), and numbers of HTTP, as a code or in the error's `data`, which agents
 * pass on as they are.
 */
import type { ErrorSign } from '../../adapters/index.ts';
import { isMembers } from './frames.ts';
import type { ModelTrouble } from './ports.ts';

export interface AgentError {
  readonly code: number;
  readonly message: string;
  /** As it stood. */
  readonly data?: unknown;
}

const AUTH_REQUIRED = -32_000;
const LOGIN_STATUS: ReadonlySet<number> = new Set([401, 403]);
/** 529 is Anthropic's "overloaded". */
const LIMIT_STATUS: ReadonlySet<number> = new Set([429, 503, 529]);
/** How deep, and how wide in all, the data of an error is looked into. */
const MAX_DEPTH = 6;
const MAX_MEMBERS = 200;
/** Characters of a message that are looked at. */
const MAX_TEXT = 4_000;

export function troubleOf({ code, message, data }: AgentError, signs: readonly ErrorSign[] = []): ModelTrouble | undefined {
  const members = typeof data === 'string' ? [['', data] as const, ...membersOf(data)] : membersOf(data);
  const statuses = [code, ...members.flatMap(([name, value]) => (STATUS_NAME.test(name) ? [Number(value)] : []))];
  const texts = [message.slice(0, MAX_TEXT), ...members.flatMap(([, value]) => (typeof value === 'string' ? [value.slice(0, MAX_TEXT)] : []))];
  const says = (means: ErrorSign['means']): boolean =>
    signs.some((sign) => sign.means === means && texts.some((text) => new RegExp(sign.pattern, 'i').test(text)));
  if (code === AUTH_REQUIRED || statuses.some((status) => LOGIN_STATUS.has(status))) return { is: 'login' };
  // A provider that counts says so in many words, and some of them are those of a login.
  if (statuses.some((status) => LIMIT_STATUS.has(status)) || says('limit')) return limited(texts, members);
  return says('login') ? { is: 'login' } : undefined;
}

/** The text of a turn that "ended" well, where it begins with an error in the program's words. */
export function troubleInAnswer(text: string, signs: readonly ErrorSign[] = []): ModelTrouble | undefined {
  const said = text.trim().slice(0, MAX_TEXT);
  const found = signs.find(({ pattern, inAnswer }) => inAnswer === true && new RegExp(`^(?:${pattern})`, 'i').test(said));
  if (found === undefined) return undefined;
  return found.means === 'limit' ? limited([said], []) : { is: 'login' };
}

function limited(texts: readonly string[], members: readonly (readonly [string, unknown])[]): ModelTrouble {
  const waits = [...members.map(([name, value]) => waitIn(name, value)), ...texts.map(waitInText)].filter((ms) => ms !== undefined);
  const retryAfterMs = waits.reduce<number | undefined>((most, ms) => (most === undefined || ms > most ? ms : most), undefined);
  return { is: 'limit', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const STATUS_NAME = /^(?:http)?_?status(?:_?code)?$|^code$/i;
/** `retry-after` and `resets_in_seconds` count seconds, `retryAfterMs` milliseconds; `retryDelay` is a duration of Google's. */
const WAIT_NAME = /^(?:retry[-_]?(?:after|delay)|resets?[-_]?in)(?:[-_]?(?:(ms|milliseconds)|s|secs|seconds))?$/i;

function waitIn(name: string, value: unknown): number | undefined {
  const [named, inMs] = WAIT_NAME.exec(name) ?? [];
  if (named === undefined) return undefined;
  const count = typeof value === 'number' || (typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value)) ? Number(value) : undefined;
  if (count !== undefined) return asWait(inMs === undefined ? count * 1_000 : count);
  return typeof value === 'string' ? durationMs(value) : undefined;
}

const DURATION = String.raw`\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])`;
const TOLD_WAIT = new RegExp(String.raw`(?:try(?:ing)? again|retry(?:ing)?|wait|resets?|available)[ \w]{0,20}? (?:in|after|for) ((?:${DURATION}[\s,]*(?:and )?)+)`, 'i');
const TOLD_SECONDS = /retry[-_ ]?after["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)/i;
const TOLD_DELAY = /retrydelay["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)s/i;

function waitInText(text: string): number | undefined {
  const told = TOLD_WAIT.exec(text)?.[1];
  if (told !== undefined) return durationMs(told);
  const secs = TOLD_SECONDS.exec(text)?.[1] ?? TOLD_DELAY.exec(text)?.[1];
  return secs === undefined ? undefined : asWait(Number(secs) * 1_000);
}

const PART = /(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])/gi;

/** `1h30m`, `12.5s`, `2 hours and 5 minutes`; undefined where there is no such word. */
function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0) return undefined;
  return asWait(parts.reduce((sum, [, count = '', unit = '']) => sum + Number(count) * unitMs(unit.toLowerCase()), 0));
}

function unitMs(unit: string): number {
  if (unit.startsWith('milli') || unit === 'ms') return 1;
  switch (unit.charAt(0)) {
    case 's':
      return 1_000;
    case 'm':
      return 60_000;
    case 'h':
      return 3_600_000;
    default:
      return 86_400_000;
  }
}

function asWait(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

/** Every member below, breadth first, within bounds. JSON in a string is looked into as well: agents pass bodies on. */
function membersOf(data: unknown): readonly (readonly [string, unknown])[] {
  const found: (readonly [string, unknown])[] = [];
  let level: readonly unknown[] = [data];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found.length < MAX_MEMBERS; depth += 1) {
    const here = level.flatMap((value) => entriesOf(value)).slice(0, MAX_MEMBERS - found.length);
    found.push(...here);
    level = here.map(([, value]) => value);
  }
  return found;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((one) => ['', one]);
  if (isMembers(value)) return Object.entries(value);
  if (typeof value !== 'string' || !value.startsWith('{') || value.length > MAX_TEXT) return [];
  try {
    return entriesOf(JSON.parse(value));
  } catch {
    return [];
  }
}
