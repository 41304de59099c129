import { describe, expect, it } from 'vitest';
import { eventId } from '../../../src/model/index.ts';
import { DeliveredEvents, deliveredFrom, MAX_DELIVERED } from '../../../src/supervisor/sessions/delivered.ts';

const id = (n: number): ReturnType<typeof eventId> => eventId(n.toString(16).padStart(64, '0'));

describe('delivered events', () => {
  it('forget what was read longest ago, and what is read again is read now', () => {
    const delivered = new DeliveredEvents([id(0), id(1)]);
    delivered.add([id(0)]);
    delivered.add(Array.from({ length: MAX_DELIVERED - 1 }, (_, n) => id(n + 2)));
    expect(delivered.size).toBe(MAX_DELIVERED);
    expect([delivered.has(id(0)), delivered.has(id(1))]).toEqual([true, false]);
  });

  it('are the same as text, in their order', () => {
    const delivered = new DeliveredEvents([id(2), id(1)]);
    expect(delivered.text()).toBe(`${id(2)}${id(1)}`);
    expect(deliveredFrom(delivered.text())).toEqual(delivered);
    expect(deliveredFrom(`${id(2)}${'x'.repeat(64)}${id(1).slice(1)}`)).toEqual(new DeliveredEvents([id(2)]));
    expect(deliveredFrom('').size).toBe(0);
  });
});
