/**
 * The end of an agent's stderr. The pipe is always drained (an unread one stops a child at 64 KiB); the last bytes are
 * kept for the message that says why the process ended.
 */
import type { Redactor } from './redaction.ts';

const LF = 0x0a;
// eslint-disable-next-line no-control-regex -- colours and other control characters are what is taken out
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;
const CONTROL = /[\p{Cc}\p{Cf}]/gu;

export interface StderrTail {
  readonly push: (chunk: Buffer) => void;
  /** Redacted, without control characters but line breaks and tabs. */
  readonly text: () => string;
}

export function stderrTail(maxBytes: number, redacted: Redactor): StderrTail {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let cut = false;
  return {
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Joined and trimmed at twice the size: each byte is copied once or twice, however small the chunks are.
      if (bytes < maxBytes * 2 && chunks.length < 1_024) return;
      const whole = Buffer.concat(chunks);
      // Copied, because a view would keep the whole of the larger buffer alive.
      const kept = Buffer.from(whole.subarray(Math.max(0, whole.length - maxBytes)));
      cut ||= kept.length < whole.length;
      chunks = [kept];
      bytes = kept.length;
    },
    text() {
      const whole = Buffer.concat(chunks);
      const kept = whole.subarray(Math.max(0, whole.length - maxBytes));
      if (!cut && kept.length === whole.length) return clean(whole.toString('utf8'), redacted);
      // The first line may begin in the middle of a secret, which then has no longer the form of one.
      const lineEnd = kept.indexOf(LF);
      return lineEnd < 0 ? '[…]' : `[…]\n${clean(kept.toString('utf8', lineEnd + 1), redacted)}`;
    },
  };
}

function clean(text: string, redacted: Redactor): string {
  const plain = text.replace(ANSI, '').replace(CONTROL, (scalar) => (scalar === '\n' || scalar === '\t' ? scalar : ''));
  return redacted(plain).trim();
}
