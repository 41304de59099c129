import fc from 'fast-check';
import { matchFilter } from 'nostr-tools/filter';
import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import { filterToWire, matchesFilter, parseFilter, signEvent } from '../../src/nostr/index.ts';

const AUX = new Uint8Array(32);
const events = Array.from({ length: 40 }, (_, n) => signEvent(
  { created_at: seconds(n % 5), kind: n % 3, tags: [['h', `c${n % 2}`], ['p', `p${n % 4}`], ['e']], content: '' },
  new Uint8Array(32).fill((n % 4) + 1), AUX,
));
// `until: 0` is left out: the other implementation takes it for absent.
const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const filters = fc.record({
  ids: some(events.slice(0, 8).map((event) => event.id)), authors: some(events.slice(0, 4).map((event) => event.pubkey)),
  kinds: some([0, 1, 2, 3]), since: fc.nat(5), until: fc.integer({ min: 1, max: 5 }), limit: fc.nat(3),
  '#h': some(['c0', 'c1', 'c2']), '#p': some(['p0', 'p9']),
}, { requiredKeys: [] });

it('matches as another implementation does, and survives the wire', () => {
  fc.assert(fc.property(filters, (wire) => {
    const parsed = parseFilter(wire);
    expect(parsed.ok).toBe(true);
    if (!parsed.ok) return;
    for (const event of events) {
      const theirs = matchFilter(wire, { ...event, tags: event.tags.map((tag) => [...tag]) });
      expect(matchesFilter(parsed.filter, event)).toBe(theirs);
    }
    expect(filterToWire(parsed.filter)).toEqual(wire);
  }), { numRuns: 300 });
});

it('goes over the wire with the cursor of NIP-AP', () => {
  const [event] = events;
  expect(filterToWire({ kinds: [44_300], until: 5, ...(event && { beforeId: event.id }) })).toEqual({ kinds: [44_300], until: 5, before_id: event?.id });
});

describe('parseFilter', () => {
  it.each([
    ['filter', []], ['filter', null], ['ids', { ids: ['ab'] }], ['authors', { authors: 'x' }], ['kinds', { kinds: ['1'] }],
    ['kinds', { kinds: [-1] }], ['since', { since: 1.5 }], ['until', { until: null }], ['limit', { limit: -1 }],
    ['#p', { '#p': [1] }], ['#pp', { '#pp': ['x'] }], ['search', { search: 'x' }],
  ])('refuses a wrong %s and names it', (member, wire) => {
    expect(parseFilter(wire)).toMatchObject({ ok: false, detail: expect.stringContaining(`${member}: expected`) });
  });
});
