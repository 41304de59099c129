/**
 * stdout as lines: split at byte 0x0A (never at U+2028), decoded only when a line is whole, so that no character is
 * split; a CR before the LF and a BOM at the start of the stream are not part of a line.
 *
 * Memory is bounded: a line longer than `maxBytes` is reported once, what was held of it is dropped, and nothing is
 * split any more.
 */
const LF = 0x0a;
const CR = 0x0d;
/** Chunks of a line that are held each for itself: a chunk costs some hundred bytes beside its own, which may be one. */
const MAX_LOOSE = 1_024;

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** The stream ended: what came after the last LF is a line too. */
  end(): void;
}

interface LineSplitterOptions {
  readonly maxBytes: number;
  readonly onLine: (text: string) => void;
  /** Called once; the splitter is deaf from then on. */
  readonly onTooLong: () => void;
}

export function lineSplitter({ maxBytes, onLine, onTooLong }: LineSplitterOptions): LineSplitter {
  let held: Buffer[] = [];
  /** How many of them, at the end, are chunks as they came. */
  let loose = 0;
  let heldBytes = 0;
  let first = true;
  let deaf = false;

  const emit = (last: Buffer): void => {
    const bytes = held.length === 0 ? last : Buffer.concat([...held, last]);
    held = [];
    loose = 0;
    heldBytes = 0;
    const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
    const text = bytes.toString('utf8', 0, end);
    onLine(first && text.startsWith('\ufeff') ? text.slice(1) : text);
    first = false;
  };
  const hold = (piece: Buffer): void => {
    held.push(piece);
    heldBytes += piece.length;
    loose += 1;
    if (loose < MAX_LOOSE) return;
    // Joined once and left alone: no byte is copied again before the line is whole.
    held.push(Buffer.concat(held.splice(-loose)));
    loose = 0;
  };
  const tooLong = (): void => {
    deaf = true;
    held = [];
    onTooLong();
  };

  return {
    push(chunk) {
      let from = 0;
      while (!deaf) {
        const at = chunk.indexOf(LF, from);
        const to = at < 0 ? chunk.length : at;
        // The limit is the line's own bytes; a CR that goes with the LF counts, as it cannot be told yet.
        if (heldBytes + to - from > maxBytes) return tooLong();
        const piece = chunk.subarray(from, to);
        if (at < 0) {
          if (piece.length > 0) hold(piece);
          return;
        }
        emit(piece);
        from = at + 1;
      }
    },
    end() {
      if (!deaf && heldBytes > 0) emit(Buffer.alloc(0));
    },
  };
}
