/** The plainest value that a JSON schema allows: what a model answers that was asked for JSON on the side. */
import { isMembers } from './ports.ts';

export function valueOf(schema: unknown): unknown {
  if (!isMembers(schema)) return {};
  const { type, enum: words, properties, minimum } = schema;
  if (Array.isArray(words)) return words[0];
  // Gemini's own form writes the types in capitals.
  switch (typeof type === 'string' ? type.toLowerCase() : undefined) {
    case 'string': return 'none';
    case 'number':
    case 'integer': return typeof minimum === 'number' ? minimum : 1;
    case 'boolean': return false;
    case 'array': return [];
    default: return Object.fromEntries(Object.entries(isMembers(properties) ? properties : {}).map(([name, one]) => [name, valueOf(one)]));
  }
}
