/**
 * JSON with nothing lost, the plain way: JSON.parse decides what is JSON, a scan of the tokens keeps what it loses
 * (repeated names, how a number was written).
 */
export type Plain = string | boolean | null | Lexeme | Pairs | readonly Plain[];
export class Lexeme {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export class Pairs {
  readonly list: [string, Plain][] = [];
  get(name: string): Plain | undefined {
    return this.list.find(([key]) => key === name)?.[1];
  }
  count(name: string): number {
    return this.list.filter(([key]) => key === name).length;
  }
}

const MAX_DEPTH = 8;

/** The document breaks the rule of NIP-BA that `rule` names. */
export class Invalid extends Error {
  readonly rule: string;
  constructor(rule: string) {
    super(rule);
    this.rule = rule;
  }
}

/** No null, no repeated name, no unpaired surrogate, no endless nesting; at any depth. */
export function checkStrict(value: Plain, depth: number): void {
  if (value === null) throw new Invalid('null');
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) throw new Invalid('surrogate');
  if (!(value instanceof Pairs) && !Array.isArray(value)) return;
  if (depth > MAX_DEPTH) throw new Invalid('depth');
  const children: readonly Plain[] = value instanceof Pairs ? value.list.map(([, child]) => child) : value;
  for (const child of children) checkStrict(child, depth + 1);
  if (!(value instanceof Pairs)) return;
  const names = value.list.map(([name]) => name);
  if (names.some((name) => /\p{Surrogate}/u.test(name))) throw new Invalid('surrogate in a name');
  if (new Set(names).size !== names.length) throw new Invalid('repeated name');
}

/** UTF-8 JSON with nothing lost, or undefined. */
export function parse(body: Uint8Array): Plain | undefined {
  const text = Buffer.from(body).toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  return take(tokens, { at: 0 });
}

function take(tokens: readonly string[], cursor: { at: number }): Plain {
  const token = tokens[cursor.at++] ?? '';
  if (token === '{' || token === '[') {
    const pairs = new Pairs();
    const items: Plain[] = [];
    while (!['}', ']'].includes(tokens[cursor.at] ?? '}')) {
      if (tokens[cursor.at] === ',') cursor.at += 1;
      if (token === '[') {
        items.push(take(tokens, cursor));
      } else {
        const name = String(JSON.parse(tokens[cursor.at] ?? '""'));
        cursor.at += 2;
        pairs.list.push([name, take(tokens, cursor)]);
      }
    }
    cursor.at += 1;
    return token === '[' ? items : pairs;
  }
  if (token.startsWith('"')) return String(JSON.parse(token));
  if (token === 'true' || token === 'false') return token === 'true';
  return token === 'null' ? null : new Lexeme(token);
}
