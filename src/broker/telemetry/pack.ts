/**
 * Several frames as one, for relays that bill frames: kind `batch`, as Buzz packs them. One channel a pack, the place and
 * number of the last frame on the outside, and the frames in it as they would have been sent alone, to the byte.
 */
import { frameText, MAX_FRAME_BYTES, seqSlack } from './frame.ts';
import type { FrameQueue, Waiting } from './queue.ts';

const COMMA_BYTES = 1;

/**
 * What goes out with `first`, whose text is given: alone where nothing of its channel fits beside it, and a frame of no
 * channel always. No session's order changes: only the first that waits in each is looked at.
 */
export function packed(first: Waiting, firstText: string, queue: Pick<FrameQueue, 'shiftOf'>): string {
  const { channelId } = first.frame;
  const texts = [firstText];
  let [last, text, bytes] = [first, firstText, Buffer.byteLength(firstText, 'utf8')];
  const fits = (waiting: Waiting): boolean => {
    text = frameText(waiting.frame, waiting.seq, waiting.at);
    const outside = Buffer.byteLength(packText(waiting, []), 'utf8') + seqSlack(waiting.seq);
    return outside + bytes + COMMA_BYTES + Buffer.byteLength(text, 'utf8') <= MAX_FRAME_BYTES;
  };
  while (channelId !== undefined) {
    const next = queue.shiftOf(channelId, fits);
    if (next === undefined) break;
    texts.push(text);
    bytes += COMMA_BYTES + Buffer.byteLength(text, 'utf8');
    last = next;
  }
  return texts.length === 1 ? firstText : packText(last, texts);
}

function packText({ frame, seq, at }: Waiting, texts: readonly string[]): string {
  const { channelId, sessionId, turnId, agentIndex, rank } = frame;
  return frameText({
    kind: 'batch', payload: `{"events":[${texts.join(',')}]}`, rank,
    ...(channelId !== undefined && { channelId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(turnId !== undefined && { turnId }),
    ...(agentIndex !== undefined && { agentIndex }),
  }, seq, at);
}
