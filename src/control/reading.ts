/** What both kinds of messages on the control socket are read with: a line as JSON, and branded types inside a schema. */
import { z } from 'zod';

/** `undefined` where the line is no JSON. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A checked value as its branded type; an issue of the schema where the check gave none. */
export function branded<T>(value: T | undefined, context: z.core.$RefinementCtx): T {
  if (value !== undefined) return value;
  context.issues.push({ code: 'custom', input: value });
  return z.NEVER;
}
