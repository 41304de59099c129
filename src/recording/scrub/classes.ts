/**
 * The classes of scalars that are replaced, each with the letters that stand in. A class keeps what a text is measured
 * by: letter or digit, case, and length in UTF-8; the letters of right-to-left scripts stay right-to-left.
 */
export interface ScalarClass {
  readonly name: string;
  readonly is: RegExp;
  /** Several, where different words are to stay different. */
  readonly letters: readonly string[];
}

/** The first that matches counts. What matches none stays as it is: white space, controls, punctuation, signs. */
const CLASSES: readonly ScalarClass[] = [
  { name: 'lower', is: /^[a-z]$/, letters: Array.from('bcdfghjklmnpqrstvwxyzaeiou') },
  { name: 'upper', is: /^[A-Z]$/, letters: Array.from('BCDFGHJKLMNPQRSTVWXYZAEIOU') },
  { name: 'digit', is: /^[0-9]$/, letters: Array.from('1234567890') },
  { name: 'rtl', is: /^(?=\p{L})[\u0590-\u07ff]$/u, letters: Array.from('אבגדהוזח') },
  { name: 'upper2', is: /^(?=\p{Lu})[\u0080-\u07ff]$/u, letters: Array.from('ÄËÏÖÜÑ') },
  { name: 'letter2', is: /^(?=\p{L})[\u0080-\u07ff]$/u, letters: Array.from('äëïöüñ') },
  { name: 'letter3', is: /^(?=\p{L})[\u0800-\uffff]$/u, letters: Array.from('文字書語言紙') },
  { name: 'letter4', is: /^\p{L}$/u, letters: Array.from('𠀀𠀁𠀂𠀃𠀄𠀅') },
  { name: 'digit2', is: /^(?=\p{N})[\u0080-\u07ff]$/u, letters: Array.from('٠١٢٣٤٥٦٧') },
  { name: 'digit3', is: /^(?=\p{N})[\u0800-\uffff]$/u, letters: Array.from('०१२३४५६७') },
  { name: 'digit4', is: /^\p{N}$/u, letters: Array.from('𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕') },
  { name: 'picture', is: /^(?=\p{S})[\u{10000}-\u{10ffff}]$/u, letters: Array.from('🙂🌻🐝🍀🌙🔔🎈🍎🌊🏡🎵📦') },
  // Text can be hidden in scalars that show nothing: tag characters, variation selectors, private use.
  { name: 'tag', is: /^[\u{e0020}-\u{e007e}]$/u, letters: ['\u{e0078}'] },
  { name: 'selector', is: /^[\u{e0100}-\u{e01ef}]$/u, letters: ['\u{e0100}'] },
  { name: 'private3', is: /^[\ue000-\uf8ff]$/u, letters: ['\ue000'] },
  { name: 'private4', is: /^\p{Co}$/u, letters: ['\u{f0000}'] },
];

const known = new Map<string, ScalarClass | undefined>();

/** The class of one scalar (or lone surrogate); undefined for one that stays. */
export function classOf(scalar: string): ScalarClass | undefined {
  if (!known.has(scalar)) known.set(scalar, CLASSES.find(({ is }) => is.test(scalar)));
  return known.get(scalar);
}
