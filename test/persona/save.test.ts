/** Saving, restoring and reading back what was saved, over relays and clocks of every sort. NIP-AP "Writing". */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seconds } from '../../src/model/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import {
  asTeamId, currentVersion, historyPage, plainDefinition, restoreVersion, saveVersion, sendAgain, templateText, versionPlaintext, versionTemplate,
} from '../../src/persona/index.ts';
import type { Cursor, OwnerPorts, PersonaRelay, SaveOrder, SaveOutcome, Subject, Version } from '../../src/persona/index.ts';
import { agent, keyOf } from './people.ts';
import { memoryRelay, ownerKey, ports, seal, signed } from './world.ts';

const AGENT = { type: 'agent', agent } as const;
const TEAM = { type: 'team', team: asTeamId('bees') ?? expect.fail('no team id') } as const;
const NOW = 1_700_000_000;

function textOf({ reading }: Version): string {
  return reading.status === 'valid' ? reading.text : `<${reading.fault}>`;
}

function wordOf(outcome: SaveOutcome): string {
  return outcome.status === 'failed' ? outcome.refusal.code : outcome.status;
}

async function currentText(one: OwnerPorts, subject: Subject = AGENT): Promise<string | undefined> {
  const current = await currentVersion(one, subject);
  if (!current.ok) return current.code;
  return current.version && textOf(current.version);
}

async function history(one: OwnerPorts, limit?: number): Promise<readonly Version[]> {
  const versions: Version[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const next = await historyPage(one, AGENT, cursor, limit);
    if (!next.ok) throw new Error(next.detail);
    if (next.page.status === 'end') return versions;
    versions.push(...next.page.versions);
    ({ cursor } = next.page);
  }
}

async function save(one: OwnerPorts, text: string, more: Partial<SaveOrder> = {}): Promise<SaveOutcome> {
  return saveVersion(one, { subject: AGENT, text, ...more } as SaveOrder);
}

function version(text: string, createdAt: number, subject: Subject = AGENT): VerifiedEvent {
  return signed(versionTemplate(subject, seal(versionPlaintext(text)), seconds(createdAt)));
}

describe('a save', () => {
  it('becomes the current version', async () => {
    const one = ports(memoryRelay());
    expect(wordOf(await save(one, 'first'))).toBe('current');
    expect(wordOf(await save(one, ''))).toBe('current');
    expect(await currentText(one)).toBe('');
    expect((await history(one)).map(textOf)).toEqual(['', 'first']);
  });

  it('is stamped behind what is there, whatever the clock says', async () => {
    const relay = memoryRelay();
    const [ahead, behind] = [ports(relay, () => NOW + 840), ports(relay, () => NOW)];
    for (const [index, one] of [ahead, behind, ahead, behind].entries()) expect(wordOf(await save(one, String(index)))).toBe('current');
    expect((await history(behind)).map((each) => [textOf(each), each.createdAt - NOW])).toEqual([['3', 843], ['2', 842], ['1', 841], ['0', 840]]);
  });

  it('keeps the text from before the first version, once', async () => {
    const one = ports(memoryRelay());
    expect(await save(one, 'mine', { earlier: 'template' })).toMatchObject({ status: 'current', earlier: 'kept' });
    expect(await save(one, 'more', { earlier: 'template' })).toMatchObject({ status: 'current', earlier: 'none' });
    expect((await history(one)).map((each) => [textOf(each), each.createdAt - NOW])).toEqual([['more', 2], ['mine', 1], ['template', 0]]);
  });

  it.each<[string, string | undefined, string, readonly string[]]>([
    ['nothing before', undefined, 'none', ['mine']], ['the same text before', 'mine', 'none', ['mine']], ['an empty text before', '', 'kept', ['mine', '']],
    ['a text no version can hold', 'a\0', 'unfit', ['mine']],
  ])('with %s', async (_, earlier, expected, texts) => {
    const one = ports(memoryRelay());
    expect(await save(one, 'mine', { earlier })).toMatchObject({ status: 'current', earlier: expected });
    expect((await history(one)).map(textOf)).toEqual(texts);
  });

  it('is not made where the text before it could not be kept', async () => {
    const relay = memoryRelay({ verdict: () => ({ publication: { status: 'rejected', reason: 'blocked: x' }, stored: false }) });
    expect(wordOf(await save(ports(relay), 'mine', { earlier: 'template' }))).toBe('rejected');
    expect(relay.published).toHaveLength(1);
  });

  it.each([
    ['a text that is none', 'a\0', {}, undefined, 'text'],
    ['a relay that breaks off', 'x', { isComplete: () => false }, undefined, 'unavailable'],
    ['a signer that is away', 'x', {}, 'sign', 'unavailable'], ['one that does not seal', 'x', {}, 'seal', 'unavailable'],
    ['a relay that refuses', 'x', { verdict: () => ({ publication: { status: 'rejected', reason: 'invalid: created_at' } as const, stored: false }) }, undefined, 'rejected'],
  ] as const)('%s: %5$s, and nothing is published', async (_, text, faults, call, expected) => {
    const relay = memoryRelay(faults);
    const one = ports(relay, () => NOW, ownerKey((name) => (name === call ? 'unavailable' : undefined)));
    expect(wordOf(await save(one, text))).toBe(expected);
    expect(relay.events()).toEqual([]);
  });

  it('whose OK was lost is found, or is the same event sent again', async () => {
    const silent = { publication: { status: 'unknown', reason: 'no OK' } as const, stored: true };
    const stored = memoryRelay({ verdict: () => silent });
    expect(wordOf(await save(ports(stored), 'x'))).toBe('current');
    expect(stored.published).toHaveLength(1);

    let left = 2;
    const deaf = memoryRelay({ verdict: () => (left-- > 0 ? { ...silent, stored: false } : undefined) });
    const outcome = await save(ports(deaf), 'x');
    if (outcome.status !== 'unknown') return expect.fail(outcome.status);
    expect(deaf.published.map(({ id }) => id)).toEqual([outcome.event.id, outcome.event.id]);
    expect(wordOf(await sendAgain(ports(deaf), { subject: AGENT }, outcome.event))).toBe('current');
    expect(deaf.events()).toEqual([outcome.event]);
  });

  it('is made over the version that was seen, and over no other', async () => {
    const relay = memoryRelay();
    const one = ports(relay);
    expect(wordOf(await save(one, 'a', { seen: 'none' }))).toBe('current');
    const [first] = await history(one);
    expect(wordOf(await save(one, 'b', { seen: first?.id }))).toBe('current');
    for (const seen of ['none', first?.id] as const) expect(wordOf(await save(one, 'c', { seen }))).toBe('unseen');
    expect((await history(one)).map(textOf)).toEqual(['b', 'a']);
    expect(wordOf(await save(one, 'c'))).toBe('current');
  });

  it('that another device overtook is told as such', async () => {
    const relay = memoryRelay();
    const rival = version('theirs', NOW + 60);
    const overtaken: PersonaRelay = {
      query: (queries) => relay.query(queries),
      publish: (event) => { relay.put(rival); return relay.publish(event); },
    };
    const outcome = await save(ports(overtaken), 'mine');
    expect(outcome).toMatchObject({ status: 'superseded', by: rival.id });
    expect((await history(ports(relay))).map(textOf)).toEqual(['theirs', 'mine']);
  });

  it('that cannot be looked at again is stored, and no more is said', async () => {
    let answers = 0;
    expect(wordOf(await save(ports(memoryRelay({ isComplete: () => ++answers === 1 })), 'x'))).toBe('stored');
  });

  it.each(['deleted', 'unavailable'] as const)('of a team whose record is %s publishes nothing', async (state) => {
    const relay = memoryRelay();
    expect(wordOf(await saveVersion(ports(relay), { subject: TEAM, guard: async () => state, text: 'x' }))).toBe(state);
    expect(relay.published).toEqual([]);
  });

  it('that was pending when its team was deleted is not sent a second time', async () => {
    const relay = memoryRelay({ verdict: () => ({ publication: { status: 'unknown', reason: 'no OK' }, stored: false }) });
    let asked = 0;
    expect(wordOf(await saveVersion(ports(relay), { subject: TEAM, guard: async () => (++asked === 1 ? 'live' : 'deleted'), text: 'x' }))).toBe('deleted');
    expect(relay.published).toHaveLength(1);
  });
});

describe('an invalid version', () => {
  it('is current, and no older one takes its place', async () => {
    const relay = memoryRelay();
    relay.put(version('good', NOW));
    relay.put(signed(versionTemplate(AGENT, seal('v9:x'), seconds(NOW + 1))));
    const one = ports(relay, () => NOW);
    expect(await currentText(one)).toBe('<prefix>');
    expect((await history(one)).map(textOf)).toEqual(['<prefix>', 'good']);
    const [bad, good] = await history(one);
    if (bad === undefined || good === undefined) return expect.fail('two versions');
    expect(wordOf(await restoreVersion(one, { subject: AGENT }, bad))).toBe('text');
    expect(wordOf(await restoreVersion(one, { subject: AGENT }, good))).toBe('current');
    expect((await history(one)).map(textOf)).toEqual(['good', '<prefix>', 'good']);
  });

  it('of a stranger, of another subject, is none of ours', async () => {
    const relay = memoryRelay({ answer: (events) => [...events, strange, version('team', NOW + 9, TEAM)] });
    const strange = signed(versionTemplate(AGENT, seal('v1:theirs'), seconds(NOW + 9)), keyOf(3));
    relay.put(version('good', NOW));
    expect(await currentText(ports(relay))).toBe('good');
  });

  it('is not what a signer that is away makes of one', async () => {
    const relay = memoryRelay();
    relay.put(version('good', NOW));
    const away = ports(relay, () => NOW, ownerKey((call) => (call === 'open' ? 'unavailable' : undefined)));
    expect(await currentText(away)).toBe('unavailable');
    expect(await historyPage(away, AGENT, undefined)).toMatchObject({ ok: false, code: 'unavailable' });
  });
});

it('the template of an agent is its definition’s prompt, or nothing', () => {
  expect([templateText({ systemPrompt: 'p' }), templateText(plainDefinition('a')), templateText(undefined)]).toEqual(['p', '', '']);
});

describe('any relay', () => {
  it('that caps, shuffles and repeats pages gives every version once, in order', async () => {
    const pool = Array.from({ length: 24 }, (_, index) => version(String(index), NOW + Math.floor(index / 6)));
    await fc.assert(fc.asyncProperty(fc.subarray(pool), fc.integer({ min: 1, max: 9 }), fc.infiniteStream(fc.nat(99)), async (events, limit, chance) => {
      const roll = (sides: number) => Number(chance.next().value) % sides;
      let last: readonly VerifiedEvent[] = [];
      const relay = memoryRelay({
        cap: () => 1 + roll(5),
        answer: (page) => {
          // The page before this one again, beside this one: what was read is passed over.
          const sent = [...page, ...(roll(3) === 0 && page.length > 0 ? last : []), ...(roll(4) === 0 ? page : [])];
          last = page;
          return sent.sort(() => roll(2) - 0.5);
        },
      });
      for (const event of events) relay.put(event);
      const found = (await history(ports(relay), limit)).map(({ id }) => id);
      const expected = [...events].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
      expect(found).toEqual(expected);
    }), { numRuns: 60 });
  });

  it('that repeats one page for ever is no end, and not read for ever', async () => {
    const relay = memoryRelay({ answer: () => relay.events() });
    relay.put(version('a', NOW));
    const one = ports(relay);
    const first = await historyPage(one, AGENT, undefined);
    if (!first.ok || first.page.status !== 'page') return expect.fail('a page');
    expect(await historyPage(one, AGENT, first.page.cursor)).toMatchObject({ ok: false, code: 'unavailable' });
  });

  it('any text survives save, history and restore', async () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => text.isWellFormed() && !text.includes('\0')), { minLength: 1, maxLength: 5 });
    await fc.assert(fc.asyncProperty(texts, fc.nat(), async (all, pick) => {
      const one = ports(memoryRelay());
      for (const text of all) await save(one, text);
      const saved = await history(one, 2);
      expect(saved.map(textOf)).toEqual([...all].reverse());
      const chosen = saved[pick % saved.length] ?? expect.fail('a version');
      expect(wordOf(await restoreVersion(one, { subject: AGENT }, chosen))).toBe('current');
      expect(await currentText(one)).toBe(textOf(chosen));
      expect(await history(one)).toHaveLength(all.length + 1);
    }), { numRuns: 30 });
  });

  it('has one current version and both in the history after any two savers', async () => {
    await fc.assert(fc.asyncProperty(fc.infiniteStream(fc.boolean()), fc.integer({ min: -900, max: 900 }), async (turns, skewSec) => {
      const { outcomes, all } = await twoSavers(turns, skewSec, {});
      expect(all.map(textOf).sort()).toEqual(['a', 'b']);
      const current = all[0]?.id;
      expect(outcomes.map(({ status }) => status).every((status) => status === 'current' || status === 'superseded')).toBe(true);
      expect(outcomes.some((outcome) => outcome.status === 'current' && outcome.id === current)).toBe(true);
      for (const outcome of outcomes) if (outcome.status === 'superseded') expect(outcome.by).toBe(current);
    }), { numRuns: 60 });
  });

  it('refuses, or tells of, every save over a version that was not seen', async () => {
    const seen = new Set<string>();
    await fc.assert(fc.asyncProperty(fc.infiniteStream(fc.boolean()), fc.integer({ min: -900, max: 900 }), async (turns, skewSec) => {
      const { outcomes, all } = await twoSavers(turns, skewSec, { seen: 'none' });
      const told = outcomes.flatMap((outcome) => {
        if (outcome.status === 'superseded') return [outcome.by];
        return outcome.status === 'current' && outcome.over !== undefined ? [outcome.over] : [];
      });
      const words = outcomes.map(wordOf);
      if (words.includes('unseen')) expect(all).toHaveLength(1);
      else expect([all.length, told.length > 0]).toEqual([2, true]);
      for (const id of told) expect(all.map((one) => one.id)).toContain(id);
      seen.add(words.sort().join());
    }), { numRuns: 200 });
    // All three ends are among them.
    expect([...seen].sort()).toEqual(['current,current', 'current,superseded', 'current,unseen']);
  });
});

/** Two devices that save `a` and `b` for one subject, their steps in the order that chance says. */
async function twoSavers(turns: Iterator<boolean>, skewSec: number, more: Partial<SaveOrder>): Promise<{ readonly outcomes: readonly SaveOutcome[]; readonly all: readonly Version[] }> {
  const relay = memoryRelay();
  const gate = turnstile(turns);
  const outcomes = await Promise.all(['a', 'b'].map(async (text, index) => {
    const slow: PersonaRelay = {
      query: async (queries) => { await gate.turn(index); return relay.query(queries); },
      publish: async (event) => { await gate.turn(index); return relay.publish(event); },
    };
    const outcome = await save(ports(slow, () => NOW + index * skewSec), text, more);
    gate.leave(index);
    return outcome;
  }));
  return { outcomes, all: await history(ports(relay)) };
}

/** Lets one of two go on at a time, as chance says, until it leaves. */
function turnstile(turns: Iterator<boolean>): { turn(index: number): Promise<void>; leave(index: number): void } {
  const waiting = new Map<number, () => void>();
  const inside = new Set([0, 1]);
  const advance = (): void => {
    if (waiting.size < inside.size || waiting.size === 0) return;
    const ready = [...waiting.keys()].sort();
    const chosen = ready[turns.next().value === true ? ready.length - 1 : 0] ?? 0;
    const go = waiting.get(chosen);
    waiting.delete(chosen);
    go?.();
  };
  return {
    turn: (index) => new Promise((resolve) => { waiting.set(index, resolve); advance(); }),
    leave: (index) => { inside.delete(index); advance(); },
  };
}
