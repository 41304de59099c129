/**
 * From what happened to the text of a fixture: looked through for secrets, read back strictly, and replayed. What does
 * not replay as it happened is not written, and where it differs is told: that is a bug of ours.
 */
import { setImmediate } from 'node:timers/promises';
import { compileOperatorTurn, compileTurn } from '../../compiler/index.ts';
import { operatorFixtureText, readFixture, replayStream, streamFixtureText, turnFixtureText } from '../replay/index.ts';
import type { StreamFixture, StreamSettings } from '../replay/index.ts';
import type { SentOperatorTurn, SentTurn } from '../supervisor/index.ts';
import type { Episode } from './episode.ts';
import { holdsSecret } from './secrets.ts';
import type { KnownSecrets } from './secrets.ts';
import { toldInOperatorTurn, toldInStream, toldInTurn } from './texts.ts';

export type Checked =
  | { readonly is: 'fixture'; readonly kind: 'turn' | 'stream'; readonly text: string }
  /** The event names the turn or the stream to whoever looks for it; '' for a turn that no message asked for. */
  | { readonly is: 'secret'; readonly kind: 'turn' | 'stream'; readonly eventId: string }
  /** The clock was set back: its times mean nothing. */
  | { readonly is: 'untimed' }
  /** `path` is where the fixture and its replay part. */
  | { readonly is: 'different'; readonly kind: 'turn' | 'stream'; readonly path: string };

/** The same for every recording: the same turn is the same file. */
const PROVENANCE = 'recorded by skep up';

export interface Secrecy {
  readonly known: KnownSecrets;
  /** Pubkeys of the house, beside those that a fixture names. */
  readonly people: ReadonlySet<string>;
}

export async function checkTurn({ input, output }: SentTurn, secrecy: Secrecy): Promise<Checked> {
  const told = toldInTurn(input);
  if (await holdsSecret(told.texts, union(told.people, secrecy.people), secrecy.known)) {
    return { is: 'secret', kind: 'turn', eventId: input.events.at(-1)?.event.id ?? '' };
  }
  const text = turnFixtureText({ provenance: PROVENANCE, input, output });
  const read = readFixture(text);
  if (!read.ok) return { is: 'different', kind: 'turn', path: read.path };
  const isSame = read.value.is === 'turn' && JSON.stringify(compileTurn(read.value.turn.input)) === JSON.stringify(output);
  return isSame ? { is: 'fixture', kind: 'turn', text } : { is: 'different', kind: 'turn', path: 'output' };
}

export async function checkOperatorTurn({ input, output }: SentOperatorTurn, { known, people }: Secrecy): Promise<Checked> {
  if (await holdsSecret(toldInOperatorTurn(input), people, known)) return { is: 'secret', kind: 'turn', eventId: '' };
  const text = operatorFixtureText({ provenance: PROVENANCE, operator: input, output });
  const read = readFixture(text);
  if (!read.ok) return { is: 'different', kind: 'turn', path: read.path };
  const isSame = read.value.is === 'operator' && JSON.stringify(compileOperatorTurn(read.value.turn.operator)) === JSON.stringify(output);
  return isSame ? { is: 'fixture', kind: 'turn', text } : { is: 'different', kind: 'turn', path: 'output' };
}

export async function checkEpisode(episode: Episode, settings: StreamSettings, secrecy: Secrecy): Promise<Checked> {
  if (episode.wentBack) return { is: 'untimed' };
  const { steps, expected } = episode.told();
  const stream: StreamFixture = { v: 1, provenance: PROVENANCE, settings, steps, expected };
  const told = toldInStream(stream);
  if (await holdsSecret(told.texts, union(told.people, secrecy.people), secrecy.known)) {
    return { is: 'secret', kind: 'stream', eventId: episode.firstEventId ?? '' };
  }
  // Between the parts whatever is ready goes on: a long episode must not hold a turn up.
  await setImmediate();
  const text = streamFixtureText(stream);
  const read = readFixture(text);
  if (!read.ok) return { is: 'different', kind: 'stream', path: read.path };
  await setImmediate();
  const path = read.value.is === 'stream' ? difference(expected, await replayStream(read.value.stream)) : 'steps';
  return path === undefined ? { is: 'fixture', kind: 'stream', text } : { is: 'different', kind: 'stream', path };
}

/** The path of the first difference. */
function difference(expected: readonly object[], seen: readonly object[]): string | undefined {
  for (let index = 0; index < Math.max(expected.length, seen.length); index += 1) {
    const [one, other] = [expected[index], seen[index]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    if (one === undefined || other === undefined) return `expected[${index}]`;
    const members = [...Object.keys(one), ...Object.keys(other)];
    const member = members.find((name) => JSON.stringify(Reflect.get(one, name)) !== JSON.stringify(Reflect.get(other, name)));
    return member === undefined ? `expected[${index}]` : `expected[${index}].${member}`;
  }
  return undefined;
}

function union(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one, ...other]);
}
