/**
 * The only way text of the input becomes text of the envelope. Escaping is what keeps a boundary ours: no input can
 * hold a `<` or `>` after it, nor end an attribute. "Text rules", rules version 1.
 * Never: indents, or ends a line that is not between two others.
 */
/** Well-formed `text` as content between tags. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const NOT_PLAIN = /[&<>"'\n\r\t]/;
const LINE_BREAK_OR_TAB = /[\n\r\t]/g;

/** Well-formed `text` as an attribute's value between double quotes: one line, each LF, CR and TAB one space. */
export function escapeAttribute(text: string): string {
  // Most values are hex or one plain word; one look at them is cheaper than seven passes.
  if (!NOT_PLAIN.test(text)) return text;
  return escapeText(text)
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replace(LINE_BREAK_OR_TAB, ' ');
}

/** A name and its value, or `undefined` for an attribute that is left out. */
export type Attribute = readonly [name: string, value: string | undefined];

/** ` name="value"` for each attribute that has a value, in the order given. */
export function attributes(list: readonly Attribute[]): string {
  let text = '';
  for (const [name, value] of list) {
    if (value !== undefined) text += ` ${name}="${escapeAttribute(value)}"`;
  }
  return text;
}
