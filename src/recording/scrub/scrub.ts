/**
 * Real fixtures as fixtures that can be shown: keys, ids, names and texts replaced by stable stand-ins, every event
 * made anew and signed with a test key, times moved to a fixed start. Fixtures that are scrubbed together agree.
 * in: fixtures that were read strictly. out: as many, in order; the same ones give the same bytes.
 * Never: hands out a fixture in which something of the original is left.
 */
import { compileOperatorTurn, compileTurn } from '../../../compiler/index.ts';
import { unreachable } from '../../model/index.ts';
import type { Fixture } from '../../replay/index.ts';
import { Events } from './events.ts';
import { leftOver, telltales } from './left-over.ts';
import { scrubStream, tellStream } from './stream.ts';
import { scrubOperatorTurn, scrubTurn, tellOperatorTurn, tellTurn } from './turn.ts';

const PROVENANCE = 'recorded; every key, id, name and text replaced by a stand-in';

/** At `index` of the fixtures: why it cannot be scrubbed. */
export interface NotScrubbed {
  readonly ok: false;
  readonly index: number;
  readonly detail: string;
}

export async function scrubFixtures(
  fixtures: readonly Fixture[],
): Promise<{ readonly ok: true; readonly fixtures: readonly Fixture[] } | NotScrubbed> {
  const events = new Events();
  for (const one of fixtures) {
    events.book.avoid(telltales(one));
    tell(one, events);
  }
  events.makeAll();
  const scrubbed: Fixture[] = [];
  for (const [index, one] of fixtures.entries()) {
    const made = await scrubOne(one, events);
    if (made === undefined) return { ok: false, index, detail: 'it does not replay as it says; see skep replay' };
    const left = leftOver(one, made);
    if (left !== undefined) throw new TypeError(`scrub: something is left of ${left}`);
    scrubbed.push(made);
  }
  return { ok: true, fixtures: scrubbed };
}

function tell(one: Fixture, events: Events): void {
  switch (one.is) {
    case 'turn':
      return tellTurn(one.turn.input, events);
    case 'operator':
      return tellOperatorTurn(one.turn.operator, events);
    case 'stream':
      return tellStream(one.stream, events);
    default:
      return unreachable(one);
  }
}

async function scrubOne(one: Fixture, events: Events): Promise<Fixture | undefined> {
  switch (one.is) {
    case 'turn': {
      const input = scrubTurn(one.turn.input, events);
      return { is: 'turn', turn: { provenance: PROVENANCE, input, output: compileTurn(input) } };
    }
    case 'operator': {
      const operator = scrubOperatorTurn(one.turn.operator, events);
      return { is: 'operator', turn: { provenance: PROVENANCE, operator, output: compileOperatorTurn(operator) } };
    }
    case 'stream': {
      const stream = await scrubStream(one.stream, events, PROVENANCE);
      return stream === undefined ? undefined : { is: 'stream', stream };
    }
    default:
      return unreachable(one);
  }
}
