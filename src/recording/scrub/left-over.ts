/**
 * The last look at a scrubbed fixture, by other means than those that made it: no key, id, UUID or npub of the original
 * is anywhere in it.
 */
import { unreachable } from '../../model/index.ts';
import type { Fixture } from '../../replay/index.ts';

const TELLTALES = /[0-9a-f]{64,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|npub1[02-9ac-hj-np-z]{58}/gi;
/** Labels that stay. */
const KEPT: ReadonlySet<string> = new Set(['rule', 'type', 'channelType']);

/** What sort of thing of `original` is still in `scrubbed`; never the thing itself. */
export function leftOver(original: Fixture, scrubbed: Fixture): string | undefined {
  const before = new Set(telltales(original));
  const left = telltales(scrubbed).find((found) => before.has(found));
  return left === undefined ? undefined : left.startsWith('npub') ? 'an npub' : left.includes('-') ? 'a UUID' : 'a key or id';
}

/** Keys, ids, UUIDs and npubs, in lowercase: of what was put in, and not what came of it: a hash of words that are skep's own is the same before and after. */
export function telltales(fixture: Fixture): readonly string[] {
  const given = givenOf(fixture);
  const text = JSON.stringify(given, (member, value: unknown) => (KEPT.has(member) ? '' : value));
  return (text.match(TELLTALES) ?? []).map((found) => found.toLowerCase());
}

function givenOf(fixture: Fixture): unknown {
  switch (fixture.is) {
    case 'turn':
      return fixture.turn.input;
    case 'operator':
      return fixture.turn.operator;
    case 'stream':
      return [fixture.stream.settings, fixture.stream.steps];
    default:
      return unreachable(fixture);
  }
}
