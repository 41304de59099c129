/** A turn explained: the layers of its manifest, each with its lines, and the lines that frame them. `--json` prints it. */
import { accountForLines, compileTurn, standingText } from '../../compiler/index.ts';
import type { Layer, LineAccount, LineRun, TurnInput } from '../../compiler/index.ts';

/** First and last line, 1-based, both included. */
export type LineRange = readonly [from: number, to: number];

/** A text of the turn: how long it is, and the lines that frame its layers. */
export interface ExplainedText {
  readonly bytes: number;
  readonly lines: number;
  readonly frame: readonly LineRange[];
}

export interface Explanation {
  readonly v: 1;
  readonly verified: boolean;
  readonly hash: string;
  readonly standingRole: TurnInput['standingRole'];
  readonly envelope: ExplainedText;
  readonly standing: ExplainedText;
  readonly layers: readonly (Layer & { readonly envelopeLines: readonly LineRange[]; readonly standingLines: readonly LineRange[] })[];
}

/** What went into `input`; `verified` says whether its events were checked. */
export function explanationOf(input: TurnInput, verified: boolean): Explanation {
  const { envelope, manifest } = compileTurn(input);
  const account: LineAccount = accountForLines(input);
  return {
    v: 1,
    verified,
    hash: manifest.hash,
    standingRole: input.standingRole,
    envelope: textOf(envelope, account.envelope),
    standing: textOf(standingText(input.standing ?? {}), account.standing),
    layers: manifest.layers.map((layer) => ({
      ...layer,
      envelopeLines: rangesOf(account.envelope, layer.layer),
      standingLines: rangesOf(account.standing, layer.layer),
    })),
  };
}

function textOf(text: string, runs: readonly LineRun[]): ExplainedText {
  return { bytes: Buffer.byteLength(text), lines: runs.at(-1)?.to ?? 0, frame: rangesOf(runs, undefined) };
}

function rangesOf(runs: readonly LineRun[], layer: string | undefined): readonly LineRange[] {
  return runs.filter((run) => run.layer === layer).map(({ from, to }) => [from, to]);
}
