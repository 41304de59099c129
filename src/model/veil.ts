/**
 * Takes the values of secrets out of a command or a title before others read it: what stands behind a name that says it
 * is one, a password in an address, and whatever has the form of a key. Linear in the text. What no rule knows for a
 * secret is left.
 */
import { excerpt } from './excerpt.ts';

export const REDACTED = '<redacted>';
/** More than any request has: the frame that carries it is shorter. */
const WHOLE = 1_000_000;

/** The text without secrets, with characters that hide or turn text as escapes. */
export function veiled(text: string): string {
  const placeless = text.replace(USER_PASSWORD, REDACTED).replace(LONE_USER, REDACTED).replace(LOGIN, REDACTED);
  return excerpt(withoutNamed(placeless), WHOLE);
}

/** The arguments of a program, each by itself; a secret may stand behind its flag as the next one. */
export function veiledArguments(args: readonly string[]): readonly string[] {
  return args.map((argument, index) => {
    const before = args[index - 1] ?? '';
    if (/^--?[a-z]/i.test(before) && !before.includes('=') && isSecretName(before) && !argument.startsWith('-')) return REDACTED;
    const pair = veiled(`${before} ${argument}`);
    return pair.startsWith(`${before} `) ? pair.slice(before.length + 1) : veiled(argument);
  });
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || (/pwd$/i.test(name) && !/^(?:OLD)?PWD$/.test(name));
}

const SECRET_NAME = /secret|passw|passphrase|(?:^|[_-])pass$|token|(?:api|access)[_-]?key|credential|private|cookies?$|^-*auth|[_-]auth(?!or(?!i[sz]))/i;

/** The password of `scheme://user:password@host`; `host:port/…@…` is none. No password holds `://`: that bounds the search. */
const USER_PASSWORD = /(?<=:\/\/[^\s/@:]*:)(?!\d+\/)(?:(?!:\/\/)[^\s"'`]){1,1000}(?=@)/g;
/** `scheme://token@host`: longer than people are called. */
const LONE_USER = /(?<=:\/\/)[^\s/@:]{16,}(?=@)/g;
/** `-u user:password`, as curl takes it; `-u 1000:1000` is none. */
const LOGIN = /(?<=(?<!\S)(?:-u|--user|--proxy-user)[\s=]["']?[^\s:"']*:)(?!\d+(?!\S))[^\s"']+/g;

/** A name and what stands between it and its value: `NAME=`, `name: `, `"name": `, `\"name\":`, `--name `. */
const NAMED = /(?<![\w.-])(?:([\w.-]+)\\*["']?\s*[=:]+\s*|(--?[a-z][\w.-]*)\s+(?!-))/gi;
/** In quotes, which may be escaped themselves; the same quote ends it, or the text does. */
const QUOTED = /(\$?(\\*)(["']))((?:(?!(?<!\\)\2\3)[^])*)/y;
/** Up to the next space, and a scheme of HTTP with the credential that follows it. */
const BARE = /(?:(?:basic|bearer|digest|token|apikey) +)?(?:[^\s"'\\,}&]|[,}](?=\w)|\\[^"']|(?<=[^\s=:])(?:"[^"\s,]+"|'[^'\s,]+'))+/iy;
/** Of a header that stands in quotes with its name: all there is. */
const HEADER = /[^"'\\\n]+/y;

function withoutNamed(text: string): string {
  let shown = '';
  let from = 0;
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(text); found !== null; found = NAMED.exec(text)) {
    const [whole, assigned, flag] = found;
    if (!isSecretName(assigned ?? flag ?? '')) continue;
    const begin = NAMED.lastIndex;
    const inQuotes = /["']/.test(text.charAt(found.index - 1));
    const value = valueAt(text, begin, inQuotes && /auth|cookie/i.test(whole));
    if (value === undefined) continue;
    shown += `${text.slice(from, begin)}${value.opening}${REDACTED}`;
    from = value.end;
    NAMED.lastIndex = from;
  }
  return shown + text.slice(from);
}

function valueAt(text: string, begin: number, isHeader: boolean): { readonly opening: string; readonly end: number } | undefined {
  const [, opening = '', , , hidden = ''] = at(QUOTED, text, begin) ?? [];
  if (opening !== '') return { opening, end: begin + opening.length + hidden.length };
  const bare = at(isHeader ? HEADER : BARE, text, begin);
  return bare === null ? undefined : { opening: '', end: begin + bare[0].length };
}

function at(sticky: RegExp, text: string, begin: number): RegExpExecArray | null {
  sticky.lastIndex = begin;
  return sticky.exec(text);
}
