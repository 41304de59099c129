/**
 * The import directions of docs/architecture.md, held by a test: who may open whose door, and that everybody comes in by
 * the door. A new room is a new line here.
 */
import { describe, expect, it } from 'vitest';
import { importsOf, roomOf, sourceFiles } from './imports.ts';
import type { Import } from './imports.ts';

const WORDS = ['src/model', 'src/nostr'] as const;

const MAY_OPEN: Readonly<Record<string, readonly string[]>> = {
  'compiler': [],
  'src/model': [],
  'src/nostr': ['src/model'],
  'adapters': ['src/model'],
  'src/http': [],
  'src/store': ['src/model'],
  'src/system': ['src/model'],
  'src/log': ['src/model'],
  'src/relay': [...WORDS, 'src/http', 'src/store'],
  'src/broker': [...WORDS, 'src/cards', 'src/http', 'src/store'],
  'src/mcp': [...WORDS, 'src/broker'],
  'src/metrics': ['compiler', 'adapters'],
  'src/acp': ['src/model', 'src/store', 'adapters', 'src/metrics'],
  'src/cards': ['src/model'],
  'src/persona': [...WORDS],
  'src/permission': ['src/model', 'src/acp', 'src/broker', 'src/cards'],
  'src/observer': WORDS,
  'src/supervisor': [
    ...WORDS, 'compiler', 'adapters', 'src/store', 'src/broker', 'src/acp', 'src/cards', 'src/metrics', 'src/observer', 'src/permission',
  ],
  'src/replay': [...WORDS, 'compiler', 'src/turn-file', 'src/store', 'src/supervisor'],
  'src/turn-file': [...WORDS, 'compiler'],
  'src/recording': [...WORDS, 'compiler', 'src/cards', 'src/replay', 'src/supervisor'],
  'src/owner': [...WORDS, 'src/cards', 'src/broker', 'src/persona'],
  'src/launches': ['src/model', 'src/broker', 'src/owner', 'src/persona', 'src/store'],
  'src/control': ['src/model', 'src/broker'],
  'src/config': [...WORDS, 'adapters', 'src/control', 'src/persona'],
};

/** Leaves: they wire and print, and nobody imports them. */
const LEAVES = ['src/cli', 'src/buzz-server.ts', 'src/client.ts', 'src/root.ts', 'src/launch.ts', 'src/relay-key.ts', 'src/owner-key.ts', 'src/launch-order.ts', 'src/launch-owned.ts', 'src/restart.ts'];

/** Doors of a room that are files of their own: types a room below may name without opening the room, parts for few. */
const SIDE_DOORS: ReadonlySet<string> = new Set(['src/broker/ports.ts', 'src/acp/ports.ts', 'src/acp/permission-ports.ts', 'compiler/reading.ts']);

const files = sourceFiles('compiler', 'adapters', 'src');
const between: readonly Import[] = files
  .flatMap(importsOf)
  .filter((one) => one.isOurs && roomOf(one.from) !== roomOf(one.to));

describe('import directions', () => {
  it('reads the whole house', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(between.length).toBeGreaterThan(100);
  });

  it('every room is known here', () => {
    const rooms = [...new Set(files.map(roomOf))].filter((room) => !LEAVES.includes(room));
    expect(rooms.sort()).toEqual(Object.keys(MAY_OPEN).sort());
  });

  it('no room opens a door it may not', () => {
    const wrong = between.filter(({ from, to }) => {
      const room = roomOf(from);
      return !LEAVES.includes(room) && !(MAY_OPEN[room] ?? []).includes(roomOf(to));
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('nobody imports a leaf, but a leaf', () => {
    const wrong = between.filter(({ from, to }) => LEAVES.includes(roomOf(to)) && !LEAVES.includes(roomOf(from)));
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('everybody comes in by the door', () => {
    const wrong = between.filter(({ to }) => !to.endsWith('/index.ts') && !SIDE_DOORS.has(to) && roomOf(to) !== to);
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('files of a room do not go out by their own door', () => {
    const wrong = files.flatMap(importsOf).filter(({ from, to, isOurs }) =>
      isOurs && roomOf(from) === roomOf(to) && to === `${roomOf(to)}/index.ts`);
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('there is no cycle of files', () => {
    const graph = new Map(files.map((file) => [file, importsOf(file).filter((one) => one.isOurs).map((one) => one.to)]));
    expect(cycleIn(graph)).toBeUndefined();
  });
});

describe('the check itself', () => {
  it('finds a cycle where there is one', () => {
    expect(cycleIn(new Map([['a', ['b']], ['b', ['c']], ['c', ['a']]]))).toEqual(['a', 'b', 'c', 'a']);
    expect(cycleIn(new Map([['a', ['b', 'c']], ['b', ['c']], ['c', []]]))).toBeUndefined();
  });
});

/** One cycle as the path round it, by depth-first search. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const finished = new Set<string>();
  const walk = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (finished.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = walk(node, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
