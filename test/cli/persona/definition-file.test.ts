/** A definition as YAML for people comes back as it was; two texts on a screen show what differs. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { definitionText, readDefinitionText } from '../../../src/cli/persona/definition-file.ts';
import { diffLines, screenLine, screenLines } from '../../../src/cli/persona/text-diff.ts';
import { plainDefinition } from '../../../src/persona/index.ts';

const TEXT = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).filter((text) => text.isWellFormed() && text.trim() !== '');
const LINES = fc.array(fc.oneof(TEXT, fc.constantFrom('', '  ', '# no comment', '- item', 'a: b', '---', '...', '\ttab', 'yes', 'null', '1e3'))).map((lines) => lines.join('\n'));

it('any definition comes back from what a person edits', () => {
  fc.assert(fc.property(TEXT, LINES, fc.array(TEXT, { maxLength: 3 }), fc.boolean(), (displayName, systemPrompt, namePool, inThreads) => {
    const definition = { ...plainDefinition(displayName), systemPrompt, namePool, sessionPolicy: inThreads ? 'thread' as const : 'channel' as const };
    expect(readDefinitionText(definitionText(definition), 'x.yaml')).toEqual(definition);
  }), { numRuns: 300 });
});

it('a prompt, a name or an item of blank lines alone keeps its spaces', () => {
  for (const blank of ['  \n', ' \n\n', '\n  \n', '  \t\n', '  \n\t\n', '   ', '\n']) {
    const definition = { ...plainDefinition('bee'), systemPrompt: blank, namePool: [blank, 'b'] };
    expect(readDefinitionText(definitionText(definition), 'x.yaml')).toEqual(definition);
  }
});

it('a file whose aliases lead nowhere, or to too much, is refused by name', () => {
  expect(() => readDefinitionText('display_name: *bee\n', 'x.yaml')).toThrow(/^x\.yaml: Unresolved alias/);
  const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]', ...['b', 'c', 'd', 'e', 'f'].map((name, at) => `${name}: &${name} [${`*${'abcde'.charAt(at)},`.repeat(9)}]`)];
  expect(() => readDefinitionText(laughs.join('\n'), 'x.yaml')).toThrow(/^x\.yaml: Excessive alias count/);
});

it('equal texts have no difference, and any two others are told apart', () => {
  fc.assert(fc.property(LINES, LINES, (before, after) => {
    const lines = diffLines(before, after, ['a', 'b']);
    expect(lines.length === 0).toBe(before === after);
    for (const line of lines) expect(line).not.toMatch(/(?!\t)[\p{Cc}\p{Cf}]/u);
  }), { numRuns: 200 });
});

it('two long texts that have nothing in common are shown in bounded time, whole', () => {
  const lines = (word: string): string => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join('\n');
  const shown = diffLines(lines('old'), lines('new'), ['a', 'b']);
  expect(shown.filter((line) => line.startsWith('-old'))).toHaveLength(20_000);
  expect(shown.filter((line) => line.startsWith('+new'))).toHaveLength(20_000);
}, 10_000);

it('a screen is given no key and no control', () => {
  expect(screenLine('a\tb\u{202e}c\r')).toBe('a\tb\\u{202e}c\\u{d}');
  expect(screenLine('https://me:secret@example.org eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc')).toBe('https<a password in an address>example.org <a JSON web token>');
  expect(screenLines('a\n\nb\n')).toEqual(['a', '', 'b']);
  expect(screenLines('')).toEqual([]);
});
