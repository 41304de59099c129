/** The two reports on stdout: short lines for people, and one JSON object a line for programs. */
import { plural, safe } from '../print.ts';
import type { Result, Summary } from './result.ts';
import { wordOf } from './result.ts';
import { brokenLine, diffOf, headOf } from './words.ts';

/** Texts to print; '' for nothing. */
export interface Report {
  /** Before anything is blessed. */
  result(result: Result): string;
  /** After it was. */
  blessed(result: Result): string;
  end(summary: Summary): string;
}

export const peopleReport: Report = {
  result({ outcome }) {
    switch (outcome.is) {
      case 'same':
        return '';
      case 'broken':
        return `broken     ${brokenLine(outcome)}\n`;
      case 'different': {
        const [first] = outcome.differences;
        const lines = [
          `different  ${safe(outcome.file)}:${first?.line ?? 1}`,
          ...outcome.differences.flatMap((one) => [`  ${headOf(one)}`, ...diffOf(one).map((line) => `    ${line}`)]),
        ];
        return `${lines.join('\n')}\n`;
      }
    }
  },
  blessed: ({ outcome: { file } }) => `blessed    ${safe(file)}\n`,
  end: (summary) => `${summaryLine(summary)}\n`,
};

export const jsonReport: Report = {
  result(result) {
    const { outcome, tookMs } = result;
    return `${JSON.stringify({ ...outcome, is: wordOf(result), tookMs: Math.round(tookMs * 1_000) / 1_000 })}\n`;
  },
  blessed: () => '',
  end: ({ counts, tookMs, shard }) => `${JSON.stringify({ summary: { ...counts, tookMs, ...(shard !== undefined && { shard }) } })}\n`,
};

/** `214 fixtures: 213 the same, 1 different; 1.2 s`. */
export function summaryLine({ counts, tookMs, shard }: Summary): string {
  const { same, different, broken, blessed } = counts;
  const parts = [
    `${same} the same`, ...(different > 0 ? [`${different} different`] : []), ...(broken > 0 ? [`${broken} broken`] : []),
    ...(blessed > 0 ? [`${blessed} blessed`] : []),
  ];
  const total = plural(same + different + broken + blessed, 'fixture');
  return `${total}${shard === undefined ? '' : ` of shard ${shard}`}: ${parts.join(', ')}; ${(tookMs / 1_000).toFixed(1)} s`;
}
