/**
 * Log fields as they may stand in a file that others read: what is named like a secret or has the form of one is
 * replaced, bytes are counted instead of shown, errors are told by name, code and message, depth and length are
 * bounded. This is the second line of defence; the first is not to pass a secret at all.
 */
import { redact } from '../model/index.ts';

const SECRET_NAME = /secret|token|credential|password|authorization|nsec|private_?key|^key$/i;
/** The members a log line may carry at each level of nesting, and the characters of one text. */
const MAX_DEPTH = 4;
const MAX_MEMBERS = 50;
const MAX_CHARACTERS = 2_000;

export function safeFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return safeMembers(fields, 0);
}

function safeMembers(members: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(members).slice(0, MAX_MEMBERS);
  return Object.fromEntries(entries.map(([name, value]): [string, unknown] => [
    // The line's own members are the log's.
    ['level', 'time', 'msg'].includes(name) && depth === 0 ? `${name}_` : redact(name),
    SECRET_NAME.test(name) && value !== undefined ? '<redacted>' : safeValue(value, depth + 1),
  ]));
}

function safeValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(redact(value));
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return '<function>';
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return safeError(value, depth);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${value.byteLength} bytes>`;
  if (depth >= MAX_DEPTH) return '<deeper>';
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => safeValue(item, depth + 1));
  return safeMembers(value, depth);
}

function safeError(error: Error, depth: number): Record<string, unknown> {
  const code = 'code' in error ? safeValue(error.code, depth) : undefined;
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    message: shorten(redact(error.message)),
    ...(error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: safeValue(error.cause, depth + 1) }),
  };
}

function shorten(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text;
}
