/** What is refused of a turn's file, where, and with which words; and that what is right is read as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnInput } from '../../compiler/index.ts';
import { decodeText, readTurn } from '../../src/turn-file/index.ts';

const TURNS = fileURLToPath(new URL('../../fixtures/turns/', import.meta.url));

function recorded(name: string): { readonly input: TurnInput } {
  return JSON.parse(readFileSync(join(TURNS, `${name}.json`), 'utf8')) as { readonly input: TurnInput };
}

const { input: SYSTEM } = recorded('standing-system');
const INPUT = JSON.stringify(SYSTEM, null, 2);

describe('a turn is read', () => {
  it.each(['standing-system', 'interrupted', 'fifty-events', 'odd-text'])('bare and recorded alike: %s', (name) => {
    const { input } = recorded(name);
    expect(readTurn(JSON.stringify(input))).toEqual({ ok: true, input });
    expect(readTurn(readFileSync(join(TURNS, `${name}.json`), 'utf8'))).toEqual({ ok: true, input });
    expect(readTurn(JSON.stringify({ input }))).toEqual({ ok: true, input });
  });

  it('without a look at its signatures when that is waived, and with every other check', () => {
    const text = changed(/"sig": "[0-9a-f]+"/, `"sig": "${'0'.repeat(128)}"`);
    expect(readTurn(text, { unverified: true })).toMatchObject({ ok: true });
    expect(readTurn(text, { unverified: false })).toMatchObject({ ok: false, path: 'events[0].event.sig' });
    expect(readTurn(changed('"v": 1', '"v": 2'), { unverified: true })).toMatchObject({ ok: false, path: 'v' });
  });
});

/** `INPUT` with one text in it replaced, and where the replaced line is. */
function changed(from: string | RegExp, to: string): string {
  const result = INPUT.replace(from, to);
  if (result === INPUT) throw new Error(`${String(from)} is not in the turn`);
  return result;
}

function lineOf(part: string, of = INPUT): number {
  return of.split('\n').findIndex((line) => line.includes(part)) + 1;
}

describe('a turn is refused for', () => {
  const wrongSignature = changed(/"sig": "../, `"sig": "${SYSTEM.events[0]?.event.sig.startsWith('00') === true ? '11' : '00'}`);
  const wrongContent = changed(/"content": "/, '"content": "Not ');
  it.each([
    ['an unknown member', changed('"v": 1,', '"v": 1,\n  "w": 1,'), 'w: expected no member of this name, found 1', 3],
    ['a null', changed('"v": 1', '"v": null'), 'v: expected 1, found null', 2],
    ['a member twice', changed('"v": 1,', '"v": 1, "\\u0076": 1,'), 'v: expected each member once, found "v"', 2],
    ['an absent member', changed('"v": 1,', ''), 'v: expected 1, found nothing', 1],
    ['a wrong type', changed(/"kind": \d+/, '"kind": "9"'), 'events[0].event.kind: expected an integer from 0 to 65535, found "9"', lineOf('"kind"')],
    ['an event that is another', wrongContent, /events\[0\]\.event\.id: expected the hash of the event, found "[0-9a-f]{16}…"/, lineOf('"id"')],
    ['a signature that is no one\'s', wrongSignature, /events\[0\]\.event\.sig: expected a signature .*, found "[0-9a-f]{16}…"/, lineOf('"sig"')],
    ['no JSON', `${INPUT}]`, '$: expected nothing after the value, found "]"', INPUT.split('\n').length],
    ['nothing at all', '', '$: expected a JSON value, found the end of the text', 1],
    ['another value', '\n[]', '$: expected an object, found an array of 0', 2],
    ['a turn that no message asked for', '{"operator": {"v": 1}}', '$: expected a turn with messages (one that no message asked for is for skep replay), found an object', 1],
    ['a recorded stream', '{"v": 1, "steps": []}', '$: expected one turn (a recorded stream is for skep replay), found an object', 1],
    ['a recorded turn with a member of its own', '{"input": {},\n"note": 1}', 'note: expected no member of this name, found 1', 2],
    ['a recorded turn that is wrong inside', `{"provenance": "made",\n"input": ${changed('"v": 1', '"v": 2')}}`, 'input.v: expected 1, found 2', 3],
    ['an event of a recorded turn', `{"input":\n${wrongContent}}`, /input\.events\[0\]\.event\.id: expected .*/, 1 + lineOf('"id"')],
  ])('%s', (_, text, told, line) => {
    const read = readTurn(text);
    if (read.ok) throw new Error('it was taken');
    expect(read.line).toBe(line);
    const words = `${read.path}: expected ${read.expected}, found ${read.found ?? 'nothing'}`;
    if (typeof told === 'string') expect(words).toBe(told);
    else expect(words).toMatch(new RegExp(`^${told.source}$`));
  });

  it('its second event, and one of an interrupted turn', () => {
    const { input } = recorded('interrupted');
    const other = input.events.map((entry) => ({ ...entry, event: { ...entry.event, kind: 1 } }));
    expect(readTurn(JSON.stringify({ ...input, events: [...input.events, ...other] }))).toMatchObject({ ok: false, path: 'events[1].event.id' });
    expect(readTurn(JSON.stringify({ ...input, interrupted: { mode: 'steer', events: other } }))).toMatchObject({ ok: false, path: 'interrupted.events[0].event.id' });
  });
});

describe('bytes', () => {
  it('of any text are that text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(decodeText(Buffer.from(text))).toEqual({ ok: true, text: text.toWellFormed() });
    }));
    expect(decodeText(Buffer.from('\ufeffa'))).toEqual({ ok: true, text: '\ufeffa' });
  });

  it.each([
    ['a stray continuation', [0x41, 0x80], 1, 1, '0x80'],
    ['a character broken off', [0x0a, 0x0a, 0xe2, 0x82, 0x41], 3, 4, '0x41'],
    ['the end within a character', [0x41, 0xf0, 0x9f, 0x98], 1, 4, 'the end within a character'],
    ['a surrogate', [0xed, 0xa0, 0x80], 1, 1, '0xa0'],
    ['an overlong form', [0xc0, 0xaf], 1, 0, '0xc0'],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00], 1, 0, '0xff'],
  ])('are refused for %s', (_, bytes, line, at, found) => {
    expect(decodeText(Uint8Array.from(bytes))).toEqual({ ok: false, line, path: `byte ${at}`, expected: 'UTF-8 text', found });
  });

  it('are refused at the byte where a slow reader would stop', () => {
    const replaced = (bytes: Uint8Array): boolean => !Buffer.from(Buffer.from(bytes).toString('utf8')).equals(bytes);
    fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (bytes) => {
      const decoded = decodeText(bytes);
      expect(decoded.ok).toBe(!replaced(bytes));
      if (decoded.ok) return;
      const at = Number(decoded.path.slice('byte '.length));
      // Whatever stands before it can still become right, by at most three more bytes.
      const tails = [[], [0x80], [0x80, 0x80], [0x80, 0x80, 0x80], [0x9f, 0x80], [0x8f, 0x80, 0x80], [0xa0, 0x80], [0x90, 0x80, 0x80]];
      expect(tails.some((tail) => !replaced(Buffer.concat([bytes.subarray(0, at), Uint8Array.from(tail)])))).toBe(true);
      if (at < bytes.length) expect(tails.some((tail) => !replaced(Buffer.concat([bytes.subarray(0, at + 1), Uint8Array.from(tail)])))).toBe(false);
    }), { numRuns: 2_000 });
  });
});
