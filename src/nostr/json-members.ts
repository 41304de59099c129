/**
 * A JSON object as the text it is: its members in their order, each value as it was written, so that what is not
 * understood can be kept to the byte; and whether any object in it, at any depth, names a member twice, which
 * `JSON.parse` does not tell.
 */
export interface JsonMember {
  readonly name: string;
  /** The value's own text, without the white space around it. */
  readonly raw: string;
}

export interface JsonMembers {
  readonly members: readonly JsonMember[];
  readonly repeats: boolean;
}

/** Undefined when `text` is not JSON, or JSON of something else than an object. */
export function jsonMembers(text: string): JsonMembers | undefined {
  if (!isObject(parse(text))) return undefined;
  // From here on the text is known to be JSON, so a look at its punctuation is enough.
  const members: JsonMember[] = [];
  const open: Set<string>[] = [];
  let repeats = false;
  let member: { readonly name: string; readonly from: number } | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        const after = skipSpace(text, end);
        const token = text.slice(at, end);
        at = end - 1;
        if (text[after] !== ':') break;
        const name = String(parse(token));
        repeats ||= open.at(-1)?.has(name) === true;
        open.at(-1)?.add(name);
        if (open.length === 1) member = { name, from: after + 1 };
        break;
      }
      case '{':
      case '[':
        open.push(new Set());
        break;
      case ',':
      case '}':
      case ']':
        if (open.length === 1 && member !== undefined) {
          members.push({ name: member.name, raw: text.slice(member.from, at).trim() });
          member = undefined;
        }
        if (text[at] !== ',') open.pop();
        break;
      default:
    }
  }
  return { members, repeats };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The place after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/[ \t\n\r]/.test(text[at] ?? '')) at += 1;
  return at;
}
