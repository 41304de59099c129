/**
 * One JSON log line as a line for people: local time, level, message, then `name=value`. Line breaks, control and bidi
 * characters of outside text are shown as escapes: one entry stays one line, and no entry paints the terminal.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const COLOURS: Readonly<Record<string, string>> = { debug: '2', info: '32', warn: '33', error: '31' };

export function asText(line: string, coloured: boolean): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const label = String(level).padEnd(5);
  const words = [
    clock(String(time)),
    coloured ? paint(label, COLOURS[String(level)] ?? '0') : label,
    escape(String(msg)),
    ...Object.entries(fields).map(([name, value]) => {
      const member = `${escape(name)}=${escape(shown(value))}`;
      return coloured ? paint(member, '2') : member;
    }),
  ];
  return `${words.join(' ')}\n`;
}

function clock(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const ms = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function escape(text: string): string {
  return text.replace(UNPRINTABLE, (scalar) => `\\u{${(scalar.codePointAt(0) ?? 0).toString(16)}}`);
}

function paint(text: string, colour: string): string {
  return `\u001B[${colour}m${text}\u001B[0m`;
}
