/** The tables of docs/agents.md as the profiles say them. */
import { adapterNames, findAdapter } from '../../adapters/index.ts';
import type { AdapterProfile, UsageShape } from '../../adapters/index.ts';

export const profiles: readonly AdapterProfile[] = adapterNames.flatMap((name) => findAdapter(name) ?? []);

/** What it takes to run one. */
export function runRow({ name, launch, needs, docsUrl }: AdapterProfile): string {
  const words = launch.runs === 'command' ? [launch.command, ...launch.args].join(' ') : 'a module of skep';
  return row(link(name, docsUrl), code(words), needs.install === undefined ? '' : code(needs.install), needs.node ?? '', needs.login ?? '');
}

/** How it is spoken to. */
export function speechRow({ name, dialect, asking, environment }: AdapterProfile): string {
  const set = Object.entries(environment ?? {}).map(([key, value]) => code(`${key}=${value}`)).join(', ');
  return row(name, dialect.standing, dialect.startMode ?? '', asking.how, usageWords(dialect.usage), set);
}

/** What was seen of it; a blank was not. */
export function traitRow({ name, traits = {} }: AdapterProfile): string {
  const { onReject, onCancel, onModelError, steering, modelBy, modeBy, load, resume, close, onStdinEnd, toolAtSigterm } = traits;
  const yes = (value: boolean | undefined): string => (value === undefined ? '' : value ? 'yes' : 'no');
  return row(
    name, onReject ?? '', onCancel ?? '', onModelError?.join(', ') ?? '', steering ?? '', modelBy?.join(', ') ?? '', modeBy?.join(', ') ?? '',
    load ?? '', yes(resume), yes(close), onStdinEnd ?? '', toolAtSigterm ?? '',
  );
}

function usageWords({ turn, session, input }: UsageShape): string {
  const shapes = [...turn, ...session];
  return shapes.length === 0 ? 'none' : `${shapes.join(', ')}; ${input}`;
}

function link(text: string, url: string | undefined): string {
  return url === undefined ? text : `[${text}](${url})`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
}
