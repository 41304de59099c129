/**
 * The context manifest: what went into a turn, layer by layer, and one hash over it.
 * in: layers. out: them in canonical order, hashed. Compiler spec, "Present layers are ordered canonically".
 * Never: holds content; a layer says which content by its version.
 */
import { sha256 } from './sha256.ts';
import { countScalars, isBlank } from './text.ts';

/**
 * One source of context. `version` is `sha256:<hex>` of its content, or the event's id; `estimatedTokens` is a quarter
 * of its scalars, rounded up; `truncated` says that the source held more.
 */
export interface Layer {
  readonly order: number;
  readonly layer: string;
  readonly scope: string;
  readonly source: string;
  readonly version: string;
  readonly authority: string;
  readonly freshness: string;
  readonly estimatedTokens: number;
  readonly truncated: boolean;
}

/** `hash` is `sha256:<hex>` of the compact JSON of `layers`. */
export interface Manifest {
  readonly schemaVersion: 1;
  readonly hash: string;
  readonly layers: readonly Layer[];
}

/** The fixed members of a layer: all but what its content decides. */
export type LayerKind = Pick<Layer, 'order' | 'layer' | 'scope' | 'source' | 'authority' | 'freshness'>;

/** A layer of `kind` for well-formed `content`; `undefined` when that is blank, for a blank layer is omitted. */
export function layerOf(
  kind: LayerKind,
  content: string,
  facts: { readonly version?: string | undefined; readonly truncated?: boolean } = {},
): Layer | undefined {
  if (isBlank(content)) return undefined;
  return {
    order: kind.order,
    layer: kind.layer,
    scope: kind.scope,
    source: kind.source,
    version: facts.version ?? sha256(content),
    authority: kind.authority,
    freshness: kind.freshness,
    estimatedTokens: Math.ceil(countScalars(content) / 4),
    truncated: facts.truncated ?? false,
  };
}

/**
 * The manifest of `layers`: sorted by `order`, layers of one order in the order given. The members of each layer are
 * written in the specified order, however the values came.
 */
export function manifestOf(layers: readonly Layer[]): Manifest {
  const sorted = layers.map(canonical).sort((one, other) => one.order - other.order);
  return { schemaVersion: 1, hash: sha256(JSON.stringify(sorted)), layers: sorted };
}

function canonical(layer: Layer): Layer {
  const { order, layer: name, scope, source, version, authority, freshness, estimatedTokens, truncated } = layer;
  return { order, layer: name, scope, source, version, authority, freshness, estimatedTokens, truncated };
}
