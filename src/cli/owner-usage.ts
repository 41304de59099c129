/** `skep owner usage`: what agents have used, summed from the turn metrics that the relay keeps for their owner. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../config/index.ts';
import { later, secondsOf } from '../model/index.ts';
import type { Pubkey } from '../model/index.ts';
import { COUNTERS, GROUPS, readMetrics, sumUsage } from '../owner/index.ts';
import type { Group, UsageRow } from '../owner/index.ts';
import { systemClock } from '../system/index.ts';
import { asOwner, ownerOptions } from './owner-open.ts';
import type { OwnerFlags } from './owner-open.ts';
import { isoOf, jsonLine } from './owner-text.ts';
import { plural, print, safe, tell } from './print.ts';

interface UsageFlags extends OwnerFlags {
  readonly since: number;
  readonly by: readonly Group[];
}

const DEFAULT_SINCE = '30d';
const MAX_SINCE_MS = 3_650 * 86_400_000;
const DAY_MS = 86_400_000;

export function usageVerb(owner: Command): void {
  ownerOptions(owner.command('usage').description('what agents have used, summed from their turn metrics'))
    .addOption(new Option('-s, --since <duration>', 'how far back, such as 24h or 90d').argParser(back).default(back(DEFAULT_SINCE), DEFAULT_SINCE))
    .addOption(new Option('-b, --by <list>', `of ${GROUPS.join(', ')}, separated by commas`).argParser(groups).default(GROUPS, GROUPS.join(',')))
    .action(usage);
}

function usage(flags: UsageFlags): Promise<void> {
  return asOwner(flags, async ({ desk, nameOf }) => {
    const { metrics, unreadable, complete } = await readMetrics(desk, secondsOf(later(systemClock.now(), -flags.since)));
    const rows = sumUsage(metrics, flags.by);
    for (const row of rows) print(flags.json === true ? jsonLine(usageJson(row, nameOf)) : usageLine(row, nameOf));
    if (rows.length === 0 && flags.json !== true) print('no metrics');
    if (unreadable > 0) tell(`${plural(unreadable, 'metric')} could not be read`);
    if (!complete) tell('there are more metrics than are read at once: use a shorter --since');
  });
}

type NameOf = (agent: Pubkey) => string;

export function usageLine({ day, agent, model, turns, counters }: UsageRow, nameOf: NameOf): string {
  const head = [
    ...(day === undefined ? [] : [dateOf(day)]),
    ...(agent === undefined ? [] : [safe(nameOf(agent))]),
    ...(model === undefined ? [] : [model === null ? 'model not known' : safe(model)]),
  ];
  const counted = COUNTERS.filter((name) => counters[name].sum !== null || name === 'inputTokens' || name === 'outputTokens').map((name) => {
    const { sum, unknown } = counters[name];
    if (sum === null) return `${WORDS[name]} not known`;
    const number = name === 'costUsd' ? `$${sum.toFixed(4)}` : grouped(sum);
    return `${WORDS[name]} ${number}${unknown === 0 ? '' : ` (not known of ${plural(unknown, 'turn')})`}`;
  });
  return `${head.map((part) => `${part}  `).join('')}${plural(turns, 'turn')}: ${counted.join(', ')}`;
}

function usageJson({ day, agent, model, turns, counters }: UsageRow, nameOf: NameOf): object {
  return {
    ...(day === undefined ? {} : { day: dateOf(day) }),
    ...(agent === undefined ? {} : { agent, name: nameOf(agent) }),
    ...(model === undefined ? {} : { model }),
    turns, ...counters,
  };
}

const WORDS: Readonly<Record<(typeof COUNTERS)[number], string>> = {
  inputTokens: 'input', outputTokens: 'output', totalTokens: 'total', costUsd: 'cost', cacheReadTokens: 'cache read', cacheWriteTokens: 'cache write',
};

function dateOf(day: number): string {
  return (isoOf(day * DAY_MS) ?? '').slice(0, 10);
}

/** `1,234,567`. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function back(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MAX_SINCE_MS) return ms;
  throw new InvalidArgumentError('expected a duration like 24h or 90d, at most 3650d');
}

function groups(text: string): readonly Group[] {
  const words = text.split(',').map((word) => word.trim());
  const found = GROUPS.filter((group) => words.includes(group));
  if (found.length === words.length) return found;
  throw new InvalidArgumentError(`expected some of ${GROUPS.join(', ')}, separated by commas`);
}
