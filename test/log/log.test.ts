import { describe, expect, it } from 'vitest';
import { openLog } from '../../src/log/index.ts';
import type { LogOutput } from '../../src/log/index.ts';
import { Failure } from '../../src/model/index.ts';
import type { Log, LogLevel } from '../../src/model/index.ts';

const NSEC = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';
const HEX = '67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa';

interface Chosen {
  readonly level?: LogLevel;
  readonly form?: LogOutput['form'];
}

function writing({ level = 'debug', form = 'json' }: Chosen = {}): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  return { log: openLog(level, { form, write: (line) => lines.push(line) }), lines };
}

describe('JSON lines', () => {
  it('carry level, time, message and fields, and nothing of the machine', () => {
    const { log, lines } = writing();
    log.info('turn ended', { agent: 'helper', ms: 12 });
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    const { time, ...rest } = line;
    expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(rest).toEqual({ level: 'info', agent: 'helper', ms: 12, msg: 'turn ended' });
    expect(lines[0]).toMatch(/\n$/);
  });

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const)('at level %s say %j', (level, heard) => {
    const { log, lines } = writing({ level });
    for (const at of ['debug', 'info', 'warn', 'error'] as const) log[at](at);
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(heard);
  });

  it('keep the log\'s own members its own', () => {
    const { log, lines } = writing();
    log.info('real', { msg: 'forged', level: 'error', time: 0 });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'real', level: 'info', msg_: 'forged', level_: 'error' });
  });
});

describe('secrets', () => {
  it.each([
    ['in the message', `found ${NSEC}`, {}],
    ['in a text', 'x', { note: `key ${NSEC}` }],
    ['in a list', 'x', { args: ['--key', NSEC] }],
    ['in an error', 'x', { error: new Failure('relay', `no: ${NSEC}`, { cause: new Error(NSEC) }) }],
    ['in a member name', 'x', { [NSEC]: 1 }],
    ['by name', 'x', { secretKey: HEX, nested: { token: HEX, authorization: HEX, credential: HEX } }],
    ['as bytes', 'x', { found: Buffer.from(HEX, 'hex') }],
  ])('are not written %s', (_, message, fields) => {
    for (const form of ['json', 'text'] as const) {
      const { log, lines } = writing({ form });
      log.info(message, fields);
      expect(lines).toHaveLength(1);
      expect(lines.join('')).not.toContain(NSEC.slice(5));
      expect(lines.join('')).not.toContain(HEX);
      expect(lines.join('')).not.toContain('103,222');
    }
  });

  it('are what is replaced, and ids are not', () => {
    const { log, lines } = writing();
    log.info('x', { eventId: HEX });
    expect(lines[0]).toContain(HEX);
  });
});

describe('bounds', () => {
  it('hold for depth, members and length, cycles included', () => {
    const { log, lines } = writing();
    const cycle: Record<string, unknown> = {};
    cycle['again'] = cycle;
    log.info('x', { cycle, long: 'y'.repeat(100_000), many: Array.from({ length: 10_000 }, (_, i) => i), big: 1n });
    expect(lines[0]?.length).toBeLessThan(5_000);
  });

  it('tell an error by name, code, message and cause', () => {
    const { log, lines } = writing();
    log.error('x', { error: new Failure('relay', 'no answer', { cause: new TypeError('why') }) });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      error: { name: 'Failure', code: 'relay', message: 'no answer', cause: { name: 'TypeError', message: 'why' } },
    });
  });
});

describe('lines for people', () => {
  it('are one line each, readable and without colour', () => {
    const { log, lines } = writing({ form: 'text' });
    log.warn('relay gone', { url: 'ws://127.0.0.1:1', attempts: 3, reason: 'two words' });
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}relay gone url=/);
    expect(lines[0]).toContain(' url=ws://127.0.0.1:1 attempts=3 reason="two words"\n');
  });

  it('show control and bidi characters as escapes', () => {
    const { log, lines } = writing({ form: 'text' });
    log.info('a\nb\u202E\u001B[31m', { name: 'x\ny' });
    expect(lines[0]).toContain('a\\u{a}b\\u{202e}\\u{1b}[31m');
    expect(lines[0]?.match(/\n/g)).toHaveLength(1);
  });

  it('are coloured when asked', () => {
    const { log, lines } = writing({ form: 'coloured' });
    log.error('x');
    expect(lines[0]).toContain('\u001B[31merror\u001B[0m');
  });
});
