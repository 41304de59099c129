/**
 * What one running turn has been given: its compiled manifest, then the layers of each steer the adapter took.
 * A ledger is a value: appending makes another, so a kept one is a snapshot, and `openLedger` with the next turn's
 * manifest is the reset.
 *
 * Compiler spec: a steer answered `injected` is appended before its delivery is acknowledged. `startedNewTurn`,
 * refusals and unknown outcomes append nothing: that is the caller's part, who alone knows the answer.
 */
import { manifestOf } from './manifest.ts';
import type { Layer, Manifest } from './manifest.ts';

/** Layers in the order they were given to the agent. */
export interface Ledger {
  readonly layers: readonly Layer[];
}

/** The ledger of a turn that has been given `manifest` and nothing else. */
export function openLedger(manifest: Manifest): Ledger {
  return { layers: [...manifest.layers] };
}

/** `ledger` with the layers of one injected steer. */
export function appendSteer(ledger: Ledger, layers: readonly Layer[]): Ledger {
  return { layers: [...ledger.layers, ...layers] };
}

/** The manifest of everything in `ledger`, sorted and hashed again. */
export function ledgerManifest(ledger: Ledger): Manifest {
  return manifestOf(ledger.layers);
}
