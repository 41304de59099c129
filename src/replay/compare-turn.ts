/**
 * A recorded turn against what it compiles to now: system text, blocks, envelope and manifest byte by byte, and the
 * hash, which is computed again from the layers by other means than the compiler's.
 * in: a recorded output, a turn. out: differences, from the layers to the texts; none when all is the same.
 */
import { hash } from 'node:crypto';
import type { CompiledTurn, Layer, LineAccount, LineRun, Manifest } from '../../compiler/index.ts';
import { firstDifference, unifiedDiff } from './difference.ts';
import type { ChangedMember, DifferenceKind } from './difference.ts';

/** A difference and the member of the fixture it is in; whoever has the text finds the line. */
export type Found = { readonly at: string } & DifferenceKind;

const MEMBERS = [
  'order', 'layer', 'scope', 'source', 'version', 'authority', 'freshness', 'estimatedTokens', 'truncated',
] as const satisfies readonly (keyof Layer)[];

/** `account` says which layer each line of the texts of today is of; asked only where one differs. */
export function turnDifferences(recorded: CompiledTurn, now: CompiledTurn, account: () => LineAccount): readonly Found[] {
  const hashes = hashDifferences(recorded.manifest, now.manifest);
  if (hashes.length === 0 && JSON.stringify(recorded) === JSON.stringify(now)) return [];
  const found = [...layerDifferences(recorded.manifest.layers, now.manifest.layers), ...hashes, ...textDifferences(recorded, now, account())];
  if (found.length > 0) return found;
  // Nothing above saw it, and still it is not the same: no difference is ever passed over.
  return [{ at: 'output', is: 'value', recorded: JSON.stringify(recorded), now: JSON.stringify(now) }];
}

function layerDifferences(recorded: readonly Layer[], now: readonly Layer[]): readonly Found[] {
  const names = (layers: readonly Layer[], others: readonly Layer[]): readonly string[] =>
    layers.map(({ layer }) => layer).filter((name) => others.some(({ layer }) => layer === name));
  const found: Found[] = recorded.flatMap((before, index): readonly Found[] => {
    const at = `output.manifest.layers[${index}]`;
    const { layer } = before;
    const after = now.find((one) => one.layer === layer);
    if (after === undefined) return [{ at, is: 'layer', layer, change: 'gone', members: [] }];
    const members = MEMBERS.flatMap((name): readonly ChangedMember[] =>
      (before[name] === after[name] ? [] : [{ name, recorded: before[name], now: after[name] }]));
    return members.length === 0 ? [] : [{ at, is: 'layer', layer, change: 'changed', members }];
  });
  const at = 'output.manifest.layers';
  for (const { layer } of now) {
    if (!recorded.some((one) => one.layer === layer)) found.push({ at, is: 'layer', layer, change: 'added', members: [] });
  }
  const [before, after] = [names(recorded, now), names(now, recorded)];
  const moved = before.find((name, index) => name !== after[index]);
  if (moved !== undefined) found.push({ at, is: 'layer', layer: moved, change: 'moved', members: [] });
  return found;
}

function hashDifferences(recorded: Manifest, now: Manifest): readonly Found[] {
  const at = 'output.manifest.hash';
  const found: Found[] = [];
  for (const [whose, manifest] of [['recorded', recorded], ['compiled', now]] as const) {
    const computed = hashOf(manifest.layers);
    if (manifest.hash !== computed) found.push({ at, is: 'value', [whose === 'recorded' ? 'recorded' : 'now']: manifest.hash, note: `the ${whose} layers hash to ${computed}` });
  }
  if (found.length === 0 && recorded.hash !== now.hash) found.push({ at, is: 'value', recorded: recorded.hash, now: now.hash });
  return found;
}

/** Compiler spec, manifest: SHA-256 over the compact JSON of the layers, members in the order of the table. */
function hashOf(layers: readonly Layer[]): string {
  const rows = layers.map((layer) => `{${MEMBERS.map((name) => `"${name}":${JSON.stringify(layer[name])}`).join(',')}}`);
  return `sha256:${hash('sha256', `[${rows.join(',')}]`, 'hex')}`;
}

function textDifferences(recorded: CompiledTurn, now: CompiledTurn, account: LineAccount): readonly Found[] {
  const found = [
    ...textDifference('output.system', recorded.system, now.system, account.standing),
    ...textDifference('output.envelope', recorded.envelope, now.envelope, account.envelope),
  ];
  const count = Math.max(recorded.blocks.length, now.blocks.length);
  for (let index = 0; index < count; index += 1) {
    const [before, after] = [recorded.blocks[index], now.blocks[index]];
    // Told as the envelope already.
    if (before === recorded.envelope && after === now.envelope) continue;
    const lines = after === now.envelope ? account.envelope : account.standing;
    found.push(...textDifference(`output.blocks[${index}]`, before, after, lines));
  }
  return found;
}

function textDifference(at: string, recorded: string | undefined, now: string | undefined, account: readonly LineRun[]): readonly Found[] {
  if (recorded === now) return [];
  if (recorded === undefined || now === undefined) return [{ at, is: 'value', ...(recorded !== undefined && { recorded }), ...(now !== undefined && { now }) }];
  const first = firstDifference(recorded, now);
  const layer = account.find(({ from, to }) => from <= first.line && first.line <= to)?.layer;
  return [{ at, is: 'text', first, diff: unifiedDiff(recorded, now), ...(layer !== undefined && { layer }) }];
}
