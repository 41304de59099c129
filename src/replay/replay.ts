/**
 * One fixture replayed: read, verified, compiled or run, and compared with what was recorded.
 * in: a file. out: the same, different (and how to bless it), or broken.
 */
import { accountForLines, compileOperatorTurn, compileTurn, lineOfPath } from '../../compiler/index.ts';
import { unreachable } from '../model/index.ts';
import { bless } from './bless.ts';
import type { Blessing } from './bless.ts';
import { streamDifferences } from './compare-stream.ts';
import { turnDifferences } from './compare-turn.ts';
import type { Found } from './compare-turn.ts';
import type { Difference } from './difference.ts';
import type { Fixture } from './fixture.ts';
import { loadFixture } from './load.ts';
import type { Broken } from './load.ts';
import { replayStream } from './stream.ts';
import type { StreamFixture } from './stream-fixture.ts';
import type { OperatorFixture, TurnFixture } from './turn-fixture.ts';

export type Outcome =
  | { readonly is: 'same'; readonly file: string; readonly fixture: Fixture['is'] }
  | {
      readonly is: 'different';
      readonly file: string;
      readonly fixture: Fixture['is'];
      readonly differences: readonly Difference[];
      /** Writes the fixture anew; absent where the code of today fails on it. Throws a `Failure` of the disk. */
      readonly bless?: () => void;
    }
  | Broken;

export interface ReplayOptions {
  /** A fixture without an output or expectations is to be completed; otherwise it is broken. */
  readonly update: boolean;
}

/** Replays one file. Rejects only for a bug of the replay itself. */
export async function replayFile(file: string, { update }: ReplayOptions): Promise<Outcome> {
  const loaded = loadFixture(file);
  if (loaded.is === 'broken') return loaded;
  const { fixture, source } = loaded;
  if (!isComplete(fixture) && !update) {
    const member = fixture.is === 'stream' ? 'expected' : 'output';
    return { is: 'broken', file, line: 1, path: member, what: 'expected what was recorded, found nothing; --update records it' };
  }
  const { found, blessing } = await compare(fixture);
  if (found.length === 0) return { is: 'same', file, fixture: fixture.is };
  const differences = found.map((one): Difference => ({ ...one, line: lineOfPath(source, one.at) }));
  return {
    is: 'different', file, fixture: fixture.is, differences, ...(blessing && { bless: () => { bless(file, source, blessing); } }),
  };
}

interface Compared {
  readonly found: readonly Found[];
  readonly blessing?: Blessing;
}

async function compare(fixture: Fixture): Promise<Compared> {
  try {
    return await compareWith(fixture);
  } catch (error) {
    // The code under test broke: the fixture has found what it is there to find.
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { found: [{ at: GIVEN[fixture.is], is: 'thrown', message }] };
  }
}

/** The member that holds what is run. */
const GIVEN: Readonly<Record<Fixture['is'], string>> = { turn: 'input', operator: 'operator', stream: 'steps' };

function compareWith(fixture: Fixture): Compared | Promise<Compared> {
  switch (fixture.is) {
    case 'turn':
      return compareTurn(fixture.turn);
    case 'operator':
      return compareOperatorTurn(fixture.turn);
    case 'stream':
      return compareStream(fixture.stream);
    default:
      return unreachable(fixture);
  }
}

function compareTurn({ input, output }: TurnFixture): Compared {
  const now = compileTurn(input);
  const found: readonly Found[] = output === undefined ? [{ at: 'output', is: 'new' }] : turnDifferences(output, now, () => accountForLines(input));
  return { found, blessing: { member: 'output', value: now } };
}

function compareOperatorTurn({ operator, output }: OperatorFixture): Compared {
  const now = compileOperatorTurn(operator);
  const found: readonly Found[] = output === undefined ? [{ at: 'output', is: 'new' }] : turnDifferences(output, now, () => ({ standing: [], envelope: [] }));
  return { found, blessing: { member: 'output', value: now } };
}

async function compareStream(stream: StreamFixture): Promise<Compared> {
  const now = await replayStream(stream);
  const found: readonly Found[] = stream.expected === undefined ? [{ at: 'expected', is: 'new' }] : streamDifferences(stream.expected, now);
  return { found, blessing: { member: 'expected', value: now } };
}

function isComplete(fixture: Fixture): boolean {
  return fixture.is === 'stream' ? fixture.stream.expected !== undefined : fixture.turn.output !== undefined;
}
