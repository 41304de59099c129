/**
 * NIP-50: the `search` member of a filter as an expression of SQLite's full-text search. All words must occur, in any
 * order and case; nothing a client writes is an operator. Pure.
 */

/** NIP-50 "Extensions": a relay ignores those it does not support, and this one supports none. */
const EXTENSION = /^(?:include|domain|language|sentiment|nsfw):/i;

/** Each word in quotes. Without any word it is an expression that finds nothing. */
export function matchExpression(search: string): string {
  // SQLite reads the expression up to a NUL, and no stored text has a lone surrogate.
  const words = search.toWellFormed().split(/[\s\p{Cc}]+/u).filter((word) => word !== '' && !EXTENSION.test(word));
  return words.length === 0 ? '""' : words.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ');
}
