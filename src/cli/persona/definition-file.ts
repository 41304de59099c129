/**
 * A definition as people write it: a YAML mapping (or JSON, which is one) of the members that its body has on the relay.
 * in: text; out: the definition, or one line that names file and member. A member that is not known is a mistake here:
 * on the relay it would be ignored.
 */
import { Document, parseDocument, Scalar, visit } from 'yaml';
import { excerpt, Failure } from '../../model/index.ts';
import { definitionMembers, plainDefinition, readDefinitionBody } from '../../persona/index.ts';
import type { Definition } from '../../persona/index.ts';

const MEMBERS = Object.keys(definitionMembers(plainDefinition('any')));

/** `name` of the file, for the failure. */
export function readDefinitionText(text: string, name: string): Definition {
  const value = mappingIn(text, name);
  const read = readDefinitionBody(JSON.stringify(value));
  if (!read.ok) throw refused(name, read.detail);
  const stray = Object.keys(value).find((member) => !MEMBERS.includes(member));
  if (stray !== undefined) throw refused(name, `${excerpt(stray)}: expected one of ${MEMBERS.join(', ')}`);
  return read.definition;
}

export function mappingIn(text: string, name: string): Readonly<Record<string, unknown>> {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw refused(name, `line ${error.linePos?.[0].line ?? 1}: ${excerpt(error.message.split('\n')[0] ?? '', 120)}`);
  const value = valueOf(document, name);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(name, 'expected a mapping of members');
  return { ...value };
}

/** An alias is followed only here: one that leads nowhere, or to too much, throws. */
function valueOf(document: Document, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw refused(name, excerpt(error.message, 120));
  }
}

/** Members that say nothing are left out; reads back as the same definition. */
export function definitionText(definition: Definition): string {
  return mappingText(definitionMembers(definition));
}

export function mappingText(members: Readonly<Record<string, unknown>>): string {
  const said = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const document = new Document(said);
  // Blank lines alone would lose their spaces as a block: YAML takes them for its indentation.
  visit(document, { Scalar: (_, node) => { if (typeof node.value === 'string' && node.value.trim() === '') node.type = Scalar.QUOTE_DOUBLE; } });
  // Unfolded: a line of a prompt is a line here.
  return document.toString({ lineWidth: 0 });
}

/** What stands above a definition in an editor. */
export const DEFINITION_HEAD = `# A persona. All of it is plain text on the relay: no key, no token, no password.
# Needed: display_name. May be left out: ${MEMBERS.filter((member) => member !== 'display_name').join(', ')}.
`;

function refused(name: string, what: string): Failure {
  return new Failure('refused_input', `${excerpt(name, 160)}: ${what}`);
}
