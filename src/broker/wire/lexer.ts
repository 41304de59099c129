/**
 * The tokens of JSON over decoded text: strings, numbers as they were written, literals, white space (RFC 8259).
 * Each scan is one pass: no regular expression on the body looks at more than one character, so a megabyte of digits
 * costs a megabyte.
 */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
};
const HEX4 = /^[0-9a-fA-F]{4}$/;
/** What a string cannot hold, and what begins an escape; also in white space between tokens, where it does no harm. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const UNPLAIN = /[\\\u0000-\u001f]/;

/** The body is no JSON. Thrown inside the reader only; `readJson` turns it into a value. */
export class NotJson extends Error {}

export class Lexer {
  /** Whether the last string had an escape in it. */
  escaped = false;
  private readonly text: string;
  /** Nothing in the body ends a run of a string but the quote behind it: so it is with almost every one. */
  private readonly isPlain: boolean;
  private at = 0;

  constructor(text: string) {
    this.text = text;
    this.isPlain = !UNPLAIN.test(text);
  }

  /** The next character that is not white space, or undefined at the end. */
  peek(): string | undefined {
    while (isJsonSpace(this.text.charCodeAt(this.at))) this.at += 1;
    return this.text[this.at];
  }

  /** Passes the character that `peek` has just shown. */
  pass(): void {
    this.at += 1;
  }

  /** The string whose opening quote is next. Runs without escapes are cut out whole. */
  string(): string {
    const end = this.isPlain ? this.text.indexOf('"', this.at + 1) : -1;
    if (end < 0) return this.runs();
    const text = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return text;
  }

  private runs(): string {
    let text = '';
    let from = this.at + 1;
    let at = from;
    this.escaped = false;
    for (;;) {
      const unit = this.text.charCodeAt(at);
      if (unit === 0x22) break;
      if (unit === 0x5c) {
        this.at = at;
        this.escaped = true;
        text += this.text.slice(from, at) + this.escape();
        from = at = this.at;
      } else if (unit >= 0x20) {
        at += 1;
      } else {
        this.at = at;
        throw this.unexpected('the rest of a string');
      }
    }
    this.at = at + 1;
    return text + this.text.slice(from, at);
  }

  private escape(): string {
    const letter = this.text[this.at + 1] ?? '';
    if (letter !== 'u') {
      const simple = ESCAPES[letter];
      if (simple === undefined) throw this.unexpected('an escape of JSON');
      this.at += 2;
      return simple;
    }
    const digits = this.text.slice(this.at + 2, this.at + 6);
    if (!HEX4.test(digits)) throw this.unexpected('four hex digits after \\u');
    this.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  number(): string {
    const from = this.at;
    if (this.text[this.at] === '-') this.at += 1;
    if (this.text[this.at] === '0') this.at += 1;
    else this.digits();
    if (this.text[this.at] === '.') {
      this.at += 1;
      this.digits();
    }
    if (this.text[this.at] === 'e' || this.text[this.at] === 'E') {
      this.at += 1;
      if (this.text[this.at] === '+' || this.text[this.at] === '-') this.at += 1;
      this.digits();
    }
    return this.text.slice(from, this.at);
  }

  private digits(): void {
    const from = this.at;
    while (isDigit(this.text.charCodeAt(this.at))) this.at += 1;
    if (this.at === from) throw this.unexpected('a value');
  }

  literal(word: 'true' | 'false' | 'null'): void {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected('a value');
    this.at += word.length;
  }

  unexpected(expected: string): NotJson {
    const found = this.text.codePointAt(this.at);
    const character = found === undefined ? 'the end' : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
    return new NotJson(`body: found ${character} at character ${this.at}, expected ${expected}`);
  }
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isJsonSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;
}
