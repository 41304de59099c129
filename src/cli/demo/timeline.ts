/** What happened, in order: kept as facts, so that it reads as a story or as one JSON object a line. */

/** `atMs` since the start of the demo. `facts` are ids, sizes and hashes; ids whole here, cut where they are shown. */
export interface Moment {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
  readonly facts: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

export interface Timeline {
  heading(step: number, title: string): void;
  tell(who: string, what: string, facts?: Moment['facts']): void;
  seen(step: number, sentence: string): void;
  plain(lines: readonly string[]): void;
}

type Write = (line: string) => void;

export function jsonTimeline(elapsedMs: () => number, write: Write): Timeline {
  const line = (type: string, members: object): void => {
    write(JSON.stringify({ type, atMs: elapsedMs(), ...members }));
  };
  return {
    heading: (step, title) => { line('step', { step, title }); },
    tell: (who, what, facts = {}) => { line('moment', { who, what, ...facts }); },
    seen: (step, sentence) => { line('seen', { step, sentence }); },
    plain: (lines) => { line('note', { lines }); },
  };
}

export function textTimeline(elapsedMs: () => number, write: Write): Timeline {
  return {
    heading: (step, title) => { write(`\n${step}  ${title}`); },
    tell: (who, what, facts = {}) => {
      const time = (elapsedMs() / 1000).toFixed(2).padStart(7);
      write(`${time} s  ${who.padEnd(7)} ${what.padEnd(16)} ${Object.entries(facts).map(shown).join('  ')}`.trimEnd());
    },
    seen: (_, sentence) => { write(`           ✓ ${sentence}`); },
    plain: (lines) => { for (const text of lines) write(text); },
  };
}

/** Ids short enough to tell apart, words as they are. */
function shown([name, value]: readonly [string, Moment['facts'][string]]): string {
  if (name === 'text') return `“${String(value)}”`;
  const short = (one: string | number | boolean): string =>
    typeof one === 'string' ? one.replaceAll(/[0-9a-f]{32,64}/g, (id) => `${id.slice(0, 8)}…`) : String(one);
  return `${name} ${Array.isArray(value) ? value.map(short).join(' ') : short(value as string | number | boolean)}`;
}
