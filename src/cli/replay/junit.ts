/**
 * The results as JUnit XML, as CI systems read it: a difference is a failure, a broken fixture an error. Characters that
 * XML 1.0 cannot hold, escaped or not, are left out.
 */
import type { Outcome } from '../../replay/index.ts';
import type { Result, Summary } from './result.ts';
import { brokenLine, diffOf, headOf } from './words.ts';

// XML 1.0, 2.2: everything else is no character of a document.
const NO_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;' };

export function junitXml(results: readonly Result[], { counts, tookMs }: Summary): string {
  const totals = attributes([
    ['tests', results.length], ['failures', counts.different], ['errors', counts.broken], ['time', inSeconds(tookMs)],
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="skep replay"${totals}>`,
    `<testsuite name="skep replay"${totals}>`,
    ...results.map(testCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ outcome, blessed, tookMs }: Result): string {
  const { file } = outcome;
  const classname = outcome.is === 'broken' ? 'fixture' : outcome.fixture;
  const opening = `<testcase${attributes([['name', file], ['classname', classname], ['file', file], ['time', inSeconds(tookMs)]])}`;
  const inner = blessed ? '' : trouble(outcome);
  return inner === '' ? `${opening}/>` : `${opening}>${inner}</testcase>`;
}

function trouble(outcome: Outcome): string {
  switch (outcome.is) {
    case 'same':
      return '';
    case 'broken':
      return `<error${attributes([['message', brokenLine(outcome)], ['type', 'broken']])}/>`;
    case 'different': {
      const body = outcome.differences.flatMap((one) => [headOf(one), ...diffOf(one)]).join('\n');
      const [first] = outcome.differences;
      return `<failure${attributes([['message', first === undefined ? '' : headOf(first)], ['type', 'different']])}>${text(body)}</failure>`;
    }
  }
}

function attributes(pairs: readonly (readonly [name: string, value: string | number])[]): string {
  return pairs.map(([name, value]) => ` ${name}="${attribute(String(value))}"`).join('');
}

function attribute(value: string): string {
  return value.replace(NO_XML, '').replace(/[&<>"'\n\r\t]/g, (sign) => ENTITIES[sign] ?? '');
}

function text(value: string): string {
  return value.replace(NO_XML, '').replace(/[&<>\r]/g, (sign) => ENTITIES[sign] ?? '');
}

function inSeconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}
