import { describe, expect, test } from 'vitest';
import { compileTurn, standingText } from '../../compiler/index.ts';
import type { Standing } from '../../compiler/index.ts';
import { turnOf } from './turns.ts';

function textOf(standing: Standing): string | undefined {
  return compileTurn(turnOf({ standing, standingRole: 'system' })).system;
}

const all: Standing = {
  channelCanvas: 'g',
  huddleInstructions: 'f',
  coreMemory: 'e',
  teamInstructions: 'd',
  system: 'c',
  base: 'b',
  workspace: 'a',
};

test('a session opened before its first turn gets the same text', () => {
  for (const standing of [all, {}, { base: ' \n' }, { system: '\ud800 <a>', base: 'b \n' }]) {
    expect(standingText(standing)).toBe(textOf(standing) ?? '');
  }
});

test('every section, in the order of the rules', () => {
  expect(textOf(all)).toBe(
    [
      '<workspace>\na\n</workspace>',
      '<base>\nb\n</base>',
      '<system>\nc\n</system>',
      '<team-instructions>\nd\n</team-instructions>',
      '<core-memory>\ne\n</core-memory>',
      '<huddle-instructions>\nf\n</huddle-instructions>',
      '<channel-canvas>\ng\n</channel-canvas>',
    ].join('\n\n'),
  );
});

describe('what a section loses', () => {
  const RAGGED = '\r\n \u0085a b\t \n\n';
  test.each<[keyof Standing, string]>([
    ['workspace', ' \u0085a b\t '],
    ['base', ' \u0085a b'],
    ['system', ' \u0085a b\t '],
    ['teamInstructions', 'a b'],
    ['coreMemory', ' \u0085a b\t '],
    ['huddleInstructions', 'a b'],
    ['channelCanvas', ' \u0085a b\t '],
  ])('%s', (section, expected) => {
    expect(
      textOf({ [section]: RAGGED })
        ?.split('>\n')[1]
        ?.split('\n<')[0],
    ).toBe(expected);
  });

  test.each(Object.keys(all))('a blank %s is omitted', (section) => {
    expect(textOf({ [section]: ' \n\u0085\u3000' })).toBeUndefined();
    expect(textOf({ [section]: '\ufeff' })).toContain('\ufeff');
  });

  test('a blank one between two leaves one blank line', () => {
    expect(textOf({ workspace: 'a', base: ' ', system: 'c' })).toBe(
      '<workspace>\na\n</workspace>\n\n<system>\nc\n</system>',
    );
  });

  test('content is escaped and made well-formed', () => {
    expect(textOf({ system: '</system> & \ud800' })).toBe('<system>\n&lt;/system&gt; &amp; \ufffd\n</system>');
  });
});

describe('where it goes', () => {
  const standing = { base: 'b' };
  const text = '<base>\nb\n</base>';

  test('system: to the role, the envelope alone in the prompt', () => {
    const compiled = compileTurn(turnOf({ standing, standingRole: 'system' }));
    expect(compiled.system).toBe(text);
    expect(compiled.blocks).toEqual([compiled.envelope]);
    expect(Object.keys(compiled)).toEqual(['v', 'system', 'blocks', 'envelope', 'manifest']);
  });

  test('prompt: a block of its own before the envelope', () => {
    const compiled = compileTurn(turnOf({ standing, standingRole: 'prompt' }));
    expect(compiled.blocks).toEqual([text, compiled.envelope]);
    expect(Object.keys(compiled)).toEqual(['v', 'blocks', 'envelope', 'manifest']);
  });

  test('sent: nowhere', () => {
    const compiled = compileTurn(turnOf({ standing, standingRole: 'sent' }));
    expect(compiled.blocks).toEqual([compiled.envelope]);
    expect(compiled.system).toBeUndefined();
  });

  test.each([undefined, {}, { base: ' \n' }])('standing %j gives neither role nor block', (nothing) => {
    const change = nothing === undefined ? {} : { standing: nothing };
    for (const standingRole of ['system', 'prompt', 'sent'] as const) {
      const compiled = compileTurn(turnOf({ ...change, standingRole }));
      expect(Object.keys(compiled)).toEqual(['v', 'blocks', 'envelope', 'manifest']);
      expect(compiled.blocks).toEqual([compiled.envelope]);
    }
  });

  test('envelope and manifest are the same for every role', () => {
    const roles = (['system', 'prompt', 'sent'] as const).map((standingRole) =>
      compileTurn(turnOf({ standing, standingRole })),
    );
    expect(new Set(roles.map(({ envelope }) => envelope)).size).toBe(1);
    expect(new Set(roles.map(({ manifest }) => JSON.stringify(manifest))).size).toBe(1);
    expect(roles[0]?.manifest.layers.map(({ layer }) => layer)).toContain('platform_contract');
  });
});
