/** Text in UTF-8 bytes: the unit of every bound of a card (NIP-AO D6), on both sides. */
const encoder = new TextEncoder();

export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** The longest beginning of `text` that is well-formed, ends between scalars and has at most `maxBytes`. */
export function cutToBytes(text: string, maxBytes: number): string {
  return take(text.toWellFormed(), maxBytes);
}

/** `text` within `maxBytes`; where it is longer, its beginning and its end with `…` between them. */
export function shortenToBytes(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (utf8Bytes(whole) <= maxBytes) return whole;
  const room = maxBytes - utf8Bytes(ELLIPSIS);
  const head = take(whole, Math.ceil(room / 2));
  const tail = take(Array.from(whole).reverse(), Math.floor(room / 2));
  return `${head}${ELLIPSIS}${Array.from(tail).reverse().join('')}`;
}

/** `text` within `maxBytes`; where it is longer, its beginning and `…`. */
export function shortenEnd(text: string, maxBytes: number): string {
  if (utf8Bytes(text) <= maxBytes) return text.toWellFormed();
  return `${cutToBytes(text, maxBytes - utf8Bytes(ELLIPSIS))}${ELLIPSIS}`;
}

/** Orders as UTF-8 bytes do, which is by scalar: a comparison of UTF-16 units puts emoji before U+E000. */
export function byScalars(one: string, other: string): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  for (const [index, scalar] of a.entries()) {
    const left = scalar.codePointAt(0) ?? 0;
    const right = b[index]?.codePointAt(0) ?? -1;
    if (left !== right) return left - right;
  }
  return a.length - b.length;
}

const ELLIPSIS = '…';

function take(scalars: Iterable<string>, maxBytes: number): string {
  let taken = '';
  let bytes = 0;
  for (const scalar of scalars) {
    bytes += utf8Bytes(scalar);
    if (bytes > maxBytes) break;
    taken += scalar;
  }
  return taken;
}
