/**
 * A message for a turn that is being played: `_session/steering`, and goose's own method.
 * in: what a script says of it, the turn, the message's text. out: the answer, before and after it steps that are played
 * beside those of the turn. Without a turn, or once it is answered, the honest answer is that a prompt is required.
 */
import { unreachable } from '../../src/model/index.ts';
import { readEnvelope } from './envelope.ts';
import { asText } from './json.ts';
import type { Json } from './json.ts';
import type { OnSteer } from './script.ts';
import type { Outside } from './stage.ts';
import type { Turn } from './turn.ts';

/** Whatever it answers but an error, it has the message. */
const GOOSE = '_goose/unstable/session/steer';
const STEERING: ReadonlySet<string> = new Set(['_session/steering', GOOSE]);

export function isSteering(method: string): boolean {
  return STEERING.has(method);
}

/** What the steers of a turn have said becomes its fact `steered`, one line each, where the agent says that it has them. */
export async function steer(id: Json, blocks: readonly string[], { method, outside: { peer, die }, onSteer, turn }: {
  readonly method: string; readonly outside: Pick<Outside, 'peer' | 'die'>; readonly onSteer: OnSteer; readonly turn: Turn | undefined;
}): Promise<void> {
  const { answer, before, after } = onSteer;
  if (turn === undefined || turn.isOver()) return peer.respond(id, { outcome: 'promptRequired', reason: 'noRunningTurn' });
  if (answer.type === 'outcome' && (answer.outcome === 'injected' || method === GOOSE)) {
    const said = (readEnvelope(blocks)?.events ?? []).map(({ content }) => content).join('\n');
    turn.variables.set('steered', [asText(turn.variables.get('steered')), said].filter((text) => text !== '').join('\n'));
  }
  await turn.play(before);
  switch (answer.type) {
    case 'outcome':
      await peer.respond(id, { outcome: answer.outcome });
      break;
    case 'result':
      await peer.respond(id, answer.result);
      break;
    case 'error':
      await peer.refuse(id, answer.error);
      break;
    case 'never':
      break;
    case 'die':
      return die(answer.ending);
    default:
      return unreachable(answer);
  }
  await turn.play(after);
}
