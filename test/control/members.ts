/** The members of a status report: as docs/operations.md names them, and as a report has them. */
import { readFileSync } from 'node:fs';

export function documentedMembers(): readonly string[] {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, table = ''] = /## The status socket[^]*?\n\| member \| is \|\n(\|[^]*?)\n\n/.exec(page) ?? [];
  const firstColumns = table.split('\n').map((row) => row.split('|')[1] ?? '');
  return firstColumns.flatMap((column) => [...column.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)).sort();
}

/** `agents[].inbox.done` and the like, each once; what is empty names nothing. */
export function membersOf(report: unknown): readonly string[] {
  return [...new Set(paths(report, ''))].sort();
}

function paths(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => paths(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) => paths(member, path === '' ? name : `${path}.${name}`));
}
