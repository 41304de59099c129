/**
 * Which lines of a turn's text come from which layer, so that every byte an agent reads is accounted for.
 * in: a turn. out: runs of lines, each of one layer or of the frame around them; together they are the whole text.
 * It takes the parts that the envelope and the standing text are made of; nothing is guessed from the text.
 */
import { partsOf, piecesOf } from './envelope.ts';
import type { Piece } from './envelope.ts';
import { sectionsOf } from './standing.ts';
import type { Standing, TurnInput } from './turn.ts';
import { wellFormedTurn } from './well-formed.ts';

/** Lines `from` to `to`, 1-based, both included. `layer` as in the manifest; absent for what frames the layers. */
export interface LineRun {
  readonly from: number;
  readonly to: number;
  readonly layer?: string;
}

/** `standing` is empty when there is no standing text. A line ends at LF and nowhere else. */
export interface LineAccount {
  readonly envelope: readonly LineRun[];
  readonly standing: readonly LineRun[];
}

/** The layer a section of standing text belongs to; `workspace` is in none (rules version 1, manifest). */
const SECTION_LAYERS: Readonly<Record<keyof Standing, string | undefined>> = {
  workspace: undefined,
  base: 'platform_contract',
  system: 'persona_and_team_guidance',
  teamInstructions: 'persona_and_team_guidance',
  coreMemory: 'core_memory',
  huddleInstructions: 'persona_and_team_guidance',
  channelCanvas: 'channel_canvas',
};

/** The account of the envelope and the standing text that `input` compiles to, whatever its `standingRole`. */
export function accountForLines(input: TurnInput): LineAccount {
  const turn = wellFormedTurn(input);
  const sections = sectionsOf(turn.standing ?? {}).flatMap(({ member, text }, index): readonly Piece[] => [
    // The blank line between two sections.
    ...(index === 0 ? [] : [[''] as const]),
    [text, SECTION_LAYERS[member]],
  ]);
  return { envelope: runs(piecesOf(partsOf(turn))), standing: runs(sections) };
}

/** The lines of the pieces, which are joined by LF; neighbours of one layer are one run. */
function runs(list: readonly Piece[]): readonly LineRun[] {
  const found: LineRun[] = [];
  let line = 1;
  for (const [text, layer] of list) {
    const to = line + countLineFeeds(text);
    const last = found.at(-1);
    if (last !== undefined && last.layer === layer) found[found.length - 1] = { ...last, to };
    else found.push({ from: line, to, ...(layer !== undefined && { layer }) });
    line = to + 1;
  }
  return found;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
