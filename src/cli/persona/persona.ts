/**
 * `skep persona`: the definitions of agents (NIP-AP kind 30175) that an owner keeps on their relay. What is published is
 * shown as a difference first and asked for; a head that changed meanwhile is not written over unseen.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { Failure, shortId } from '../../model/index.ts';
import { parsePubkey } from '../../nostr/index.ts';
import { definitionHash, definitionMembers, deleteAt, freeSlug, isPersonaSlug, PERSONA_KIND, plainDefinition, readTeams, slugFrom } from '../../persona/index.ts';
import type { Definition } from '../../persona/index.ts';
import { placeOptions } from '../owner-open.ts';
import { isoOf, jsonLine } from '../owner-text.ts';
import { plural, print, safe, tell } from '../print.ts';
import { readSource } from '../source.ts';
import { confirm } from './ask.ts';
import type { AskFlags } from './ask.ts';
import { DEFINITION_HEAD, definitionText, readDefinitionText } from './definition-file.ts';
import { asSlug, bodyOf, coordinateIn, definitionAt, definitionHeads, publishDefinition, readBody, shown, theDefinition } from './definitions.ts';
import type { Found } from './definitions.ts';
import { edited } from './editor.ts';
import { asPersonas, taken } from './open.ts';
import type { PersonaFlags, Personas } from './open.ts';
import { personasOf } from './team-sharing.ts';
import { diffLines, screenLine, screenLines } from './text-diff.ts';

interface WriteFlags extends PersonaFlags, AskFlags {
  readonly over?: boolean;
  readonly from?: string;
  readonly prompt?: string;
  readonly name?: string;
  readonly description?: string;
  readonly runtime?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly session?: 'channel' | 'thread';
}

type SureFlags = PersonaFlags & AskFlags;

export function personaVerb(program: Command): void {
  const persona = program
    .command('persona')
    .description('what agents are made from: list, write, share and delete definitions on your relay');
  placeOptions(persona.command('list').description('your personas, or those that another owner shows'))
    .option('--of <owner>', 'another owner: an npub or hex')
    .action((flags: PersonaFlags & { readonly of?: string }) => asPersonas(flags, (personas) => list(personas, flags)));
  slugged(persona, 'show', 'all that a persona says')
    .action((slug: string, flags: PersonaFlags) => asPersonas(flags, (personas) => show(personas, slug, flags)));
  writing(slugged(persona, 'new', 'write a persona that is not there yet; in $EDITOR unless it is told what to say'))
    .action((slug: string, flags: WriteFlags) => asPersonas(flags, (personas) => create(personas, asSlug(slug), flags)));
  writing(slugged(persona, 'edit', 'change a persona; in $EDITOR unless it is told what to say'))
    .option('--over', 'also where it was changed elsewhere meanwhile')
    .action((slug: string, flags: WriteFlags) => asPersonas(flags, (personas) => edit(personas, slug, flags)));
  slugged(persona, 'diff', 'what another one says otherwise')
    .argument('<other>', 'a file (- for stdin), another slug, or 30175:<owner>:<slug>')
    .action((slug: string, other: string, flags: PersonaFlags) => asPersonas(flags, (personas) => diff(personas, slug, other, flags)));
  for (const isShared of [true, false]) {
    asking(slugged(persona, isShared ? 'share' : 'unshare', isShared ? 'let everybody read it whom the relay lets in' : 'let nobody but you read it'))
      .action((slug: string, flags: SureFlags) => asPersonas(flags, (personas) => share(personas, slug, isShared, flags)));
  }
  asking(slugged(persona, 'delete', 'delete it from the relay'))
    .action((slug: string, flags: SureFlags) => asPersonas(flags, (personas) => remove(personas, slug, flags)));
  asking(placeOptions(persona.command('import').description('take a persona from a file, or one that another owner shows')))
    .argument('<source>', 'a YAML or JSON file (- for stdin), or 30175:<owner>:<slug>')
    .option('--as <slug>', 'its slug here (default: made from its name or slug there)')
    .action((source: string, flags: SureFlags & { readonly as?: string }) => asPersonas(flags, (personas) => take(personas, source, flags)));
}

function slugged(parent: Command, verb: string, description: string): Command {
  return placeOptions(parent.command(verb).description(description)).argument('<slug>', 'its name on the relay: a-z, 0-9, _ and -');
}

function asking(command: Command): Command {
  return command.option('-y, --yes', 'do not ask');
}

function writing(command: Command): Command {
  return asking(command)
    .option('-f, --from <file>', 'all of it, from a YAML or JSON file; - is stdin')
    .option('-p, --prompt <file>', 'the system prompt, from a text file; - is stdin')
    .option('-n, --name <name>', 'the name for people')
    .option('--description <text>', 'one line for people, public')
    .option('--runtime <id>', 'the agent program, such as goose')
    .option('--model <id>', 'the model')
    .option('--provider <id>', 'the provider of the model')
    .addOption(new Option('--session <policy>', 'whether a channel or a thread is one conversation').choices(['channel', 'thread']));
}

async function list(personas: Personas, { of, json = false }: PersonaFlags & { readonly of?: string }): Promise<void> {
  const heads = await definitionHeads(personas, of === undefined ? personas.key.pubkey : taken(asOwner(of)).pubkey);
  for (const { slug, event, reading } of heads) {
    if (json) {
      const facts = reading.ok ? { name: reading.definition.displayName, shared: reading.isShared, model: reading.definition.model ?? null, fault: null } : { name: null, shared: null, model: null, fault: reading.detail };
      print(jsonLine({ slug, event: event.id, savedAt: isoOf(event.created_at * 1_000), ...facts }));
    } else {
      const says = reading.ok ? [reading.definition.displayName, reading.definition.model, reading.isShared ? 'shared' : undefined] : [`cannot be read: ${reading.detail}`];
      print(`${safe(slug)}  ${says.flatMap((word) => (word === undefined ? [] : [safe(word)])).join('  ')}`);
    }
  }
  if (heads.length === 0 && !json) print(of === undefined ? 'no personas yet; skep persona new writes one' : 'no personas that are shown');
}

function asOwner(text: string): ReturnType<typeof parsePubkey> {
  const parsed = parsePubkey(text);
  if (parsed.ok) return parsed;
  throw new Failure('usage', `--of: ${parsed.detail}`);
}

async function show(personas: Personas, slug: string, { json = false }: PersonaFlags): Promise<void> {
  const found = await theDefinition(personas, slug);
  if (json) print(jsonLine(foundJson(found)));
  else for (const line of foundLines(found)) print(line);
}

function foundJson({ slug, event, isShared, definition }: Found): object {
  return { slug, event: event.id, savedAt: isoOf(event.created_at * 1_000), shared: isShared, hash: definitionHash(definition), definition: definitionMembers(definition) };
}

/** The prompt last, and whole. */
function foundLines({ slug, event, isShared, definition }: Found): readonly string[] {
  const { system_prompt: prompt, ...rest } = definitionMembers(definition);
  const said = Object.entries(rest).filter(([, value]) => value !== undefined);
  const width = Math.max(...said.map(([name]) => name.length));
  return [
    `${slug}  ${isShared ? 'shared' : 'not shared'}, event ${shortId(event.id)}, ${isoOf(event.created_at * 1_000) ?? ''}`,
    ...said.map(([name, value]) => `  ${name.padEnd(width)}  ${screenLine(typeof value === 'string' ? value : JSON.stringify(value))}`),
    ...(typeof prompt === 'string' ? [`  system_prompt, ${plural(Buffer.byteLength(prompt), 'byte')}:`, ...screenLines(prompt).map((line) => `    ${line}`)] : ['  no system_prompt']),
  ];
}

async function create(personas: Personas, slug: string, flags: WriteFlags): Promise<void> {
  if (await definitionAt(personas, slug) !== undefined) throw new Failure('not_changed', `${slug}: there is a persona of that slug; skep persona edit changes it`);
  const wanted = await told(plainDefinition(flags.name ?? slug), flags);
  const write = (definition: Definition, agreed?: () => void): Promise<void> => publish(personas, { slug, before: undefined, definition, isShared: false }, { ...flags, agreed });
  if (wanted !== undefined) return write(wanted);
  return edited(`${DEFINITION_HEAD}${definitionText({ ...plainDefinition(flags.name ?? slug), systemPrompt: 'You are …\n' })}`, `${slug}.yaml`, (text, agreed) => write(readDefinitionText(text, `${slug}.yaml`), agreed));
}

async function edit(personas: Personas, slug: string, flags: WriteFlags): Promise<void> {
  const before = await theDefinition(personas, slug);
  const write = (definition: Definition, agreed?: () => void): Promise<void> => publish(personas, { slug, before, definition, isShared: before.isShared }, { ...flags, agreed });
  const wanted = await told(before.definition, flags);
  if (wanted !== undefined) return write(wanted);
  return edited(`${DEFINITION_HEAD}${definitionText(before.definition)}`, `${slug}.yaml`, (text, agreed) => write(readDefinitionText(text, `${slug}.yaml`), agreed));
}

/** What the command line says, over `base`; undefined where it says nothing, and the editor is asked. */
async function told(base: Definition, flags: WriteFlags): Promise<Definition | undefined> {
  const { from, prompt, name, description, runtime, model, provider, session } = flags;
  if ([from, prompt, name, description, runtime, model, provider, session].every((word) => word === undefined)) return undefined;
  const whole = from === undefined ? base : readDefinitionText(await source(from, flags), from);
  return {
    ...whole,
    ...(prompt === undefined ? {} : { systemPrompt: await source(prompt, flags) }),
    ...(name === undefined ? {} : { displayName: name }),
    ...(description === undefined ? {} : { description }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(session === undefined ? {} : { sessionPolicy: session }),
  };
}

function source(file: string, { yes = false }: AskFlags): Promise<string> {
  if (file === '-' && !yes) throw new Failure('usage', 'persona -: expected --yes too, because stdin cannot be both the text and the answer');
  return readSource(file);
}

interface Change {
  readonly slug: string;
  readonly before: Found | undefined;
  readonly definition: Definition;
  readonly isShared: boolean;
}

async function publish(personas: Personas, { slug, before, definition, isShared }: Change, flags: WriteFlags): Promise<void> {
  const body = bodyOf(definition, isShared, before);
  const lines = diffLines(before === undefined ? '' : definitionText(before.definition), definitionText(readBody(body)), [before === undefined ? 'nothing' : `${slug} now`, `${slug} next`]);
  if (before !== undefined && lines.length === 0) {
    done({ status: 'unchanged', slug, event: before.event.id, shared: isShared }, `nothing to save: that is what ${slug} says`, flags);
    return;
  }
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  const who = isShared ? '; it is shared, so everybody reads it' : '';
  await confirm(`Save this as the persona ${slug}${who}?`, flags);
  const seen = flags.over === true ? undefined : before?.event.id ?? 'none';
  const event = await publishDefinition(personas, slug, { body, isShared, seen, ...(before && { hint: '; --over saves all the same' }) });
  done({ status: 'saved', slug, event: event.id, shared: isShared }, `saved: ${slug}, event ${shortId(event.id)}; an agent that is made from it has it from its next start`, flags);
}

function done(value: object, line: string, { json = false }: PersonaFlags): void {
  print(json ? jsonLine(value) : line);
}

async function diff(personas: Personas, slug: string, other: string, { json = false }: PersonaFlags): Promise<void> {
  const mine = await theDefinition(personas, slug);
  const { definition } = await otherOne(personas, other);
  const lines = diffLines(definitionText(mine.definition), definitionText(definition), [slug, safe(other)]);
  if (json) print(jsonLine({ slug, other, same: lines.length === 0, lines }));
  else if (lines.length === 0) print('they say the same');
  else for (const line of lines) print(line);
}

/** A coordinate goes before a slug, and a slug before a file of that name. */
async function otherOne(personas: Personas, text: string): Promise<{ readonly definition: Definition; readonly slug: string | undefined }> {
  const coordinate = coordinateIn(text, PERSONA_KIND.definition);
  if (coordinate !== undefined) return shown(personas, coordinate);
  const found = isPersonaSlug(text) ? await definitionAt(personas, text) : undefined;
  return found ?? { definition: readDefinitionText(await readSource(text), text), slug: undefined };
}

async function share(personas: Personas, slug: string, isShared: boolean, flags: SureFlags): Promise<void> {
  const { definition, isShared: was, event: before } = await theDefinition(personas, slug);
  if (was === isShared) {
    done({ status: 'unchanged', slug, event: before.id, shared: was }, `${slug} is ${was ? 'shared' : 'not shared'} already`, flags);
    return;
  }
  const body = bodyOf(definition, isShared);
  if (isShared) {
    const { systemPrompt, respondToAllowlist } = definition;
    const prompt = systemPrompt === undefined ? 'no prompt' : `its prompt (${plural(Buffer.byteLength(systemPrompt), 'byte')})`;
    tell(`everybody whom the relay lets in will read ${slug}: ${prompt}${respondToAllowlist.length === 0 ? '' : `, the ${plural(respondToAllowlist.length, 'key')} it answers to`}, and all else it says`);
  }
  await confirm(isShared ? `Share ${slug}?` : `Stop sharing ${slug}? Copies that others have made stay with them.`, flags);
  // The body is that of the head that was shown: published over another one, it would take that one's change back.
  const event = await publishDefinition(personas, slug, { body, isShared, seen: before.id });
  done({ status: isShared ? 'shared' : 'unshared', slug, event: event.id, shared: isShared }, isShared ? `shared: ${PERSONA_KIND.definition}:${personas.key.pubkey}:${slug}` : `unshared: ${slug}`, flags);
}

async function remove(personas: Personas, slug: string, flags: SureFlags): Promise<void> {
  const { slug: found } = await theDefinitionOrHead(personas, slug);
  const book = await readTeams(personas);
  // It only says what hangs on the persona: that it is not known keeps nobody from deleting.
  if (!book.ok && book.code === 'content') tell(`which teams it belongs to is not known: ${safe(book.detail)}`);
  const records = !book.ok && book.code === 'content' ? [] : taken(book).records;
  const teams: string[] = [];
  for (const record of records) if (record.status === 'live' && (await personasOf(personas, record)).slugs.includes(found)) teams.push(record.name);
  const agents = personas.agents.filter(({ launch }) => launch?.persona === found).map(({ name }) => name);
  if (agents.length > 0) tell(`made from it: ${agents.join(', ')}`);
  if (teams.length > 0) tell(`it belongs to ${plural(teams.length, 'team')}: ${teams.map(safe).join(', ')}`);
  await confirm(`Delete ${found}? An agent that is made from it is not started without it, unless it has instructions of its own.`, flags);
  const request = taken(await deleteAt(personas, { kind: PERSONA_KIND.definition, author: personas.key.pubkey, d: found })).event;
  if (await definitionAt(personas, found) !== undefined) throw new Failure('partly_done', `${found}: the relay took the request and still shows a persona; try again`);
  done({ status: 'deleted', slug: found, request: request.id }, `deleted: ${found}`, flags);
}

/** One that cannot be read is deleted all the same. */
async function theDefinitionOrHead(personas: Personas, slug: string): Promise<{ readonly slug: string }> {
  const head = (await definitionHeads(personas, personas.key.pubkey)).find((one) => one.slug === asSlug(slug));
  return head ?? theDefinition(personas, slug);
}

async function take(personas: Personas, from: string, flags: SureFlags & { readonly as?: string }): Promise<void> {
  if (from === '-' && flags.yes !== true) throw new Failure('usage', 'persona import -: expected --yes too, because stdin cannot be both the text and the answer');
  const coordinate = coordinateIn(from, PERSONA_KIND.definition);
  const found = coordinate === undefined ? { definition: readDefinitionText(await readSource(from), from), slug: undefined } : await shown(personas, coordinate);
  const heads = new Set((await definitionHeads(personas, personas.key.pubkey)).map(({ slug }) => slug));
  const slug = flags.as === undefined ? freeSlug(found.slug ?? slugFrom(found.definition.displayName), heads) : asSlug(flags.as);
  if (heads.has(slug)) throw new Failure('not_changed', `${slug}: there is a persona of that slug; give another one with --as`);
  // Whom it answers to is the owner's to say, not a stranger's.
  const definition = coordinate === undefined || coordinate.author === personas.key.pubkey ? found.definition : { ...found.definition, respondTo: undefined, respondToAllowlist: [] };
  await publish(personas, { slug, before: undefined, definition, isShared: false }, flags);
}
