/**
 * `skep instructions`: what an agent or a team is told, every version of it, and the way back to an old one. Each save is
 * shown as a difference and asked for; none is made over a version that was not seen.
 */
import { Argument, InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { shortId, Failure } from '../../model/index.ts';
import { deleteVersions, historyPage } from '../../persona/index.ts';
import type { Cursor, SaveOrder, Version } from '../../persona/index.ts';
import { placeOptions } from '../owner-open.ts';
import { isoOf, jsonLine } from '../owner-text.ts';
import { write } from '../output.ts';
import { plural, print, tell } from '../print.ts';
import { readSource } from '../source.ts';
import { confirm } from './ask.ts';
import { edited } from './editor.ts';
import { asPersonas, taken } from './open.ts';
import type { PersonaFlags, Personas } from './open.ts';
import { patiently } from './patience.ts';
import { saveShown, subjectJson, tellOverrides, textJson } from './saving.ts';
import type { SaveFlags } from './saving.ts';
import { targetOf } from './subject.ts';
import type { Sort, Standing, Target } from './subject.ts';
import { diffLines, screenLines } from './text-diff.ts';

interface OnFlags extends SaveFlags {
  readonly on?: string;
}

export function instructionsVerb(program: Command): void {
  const instructions = program
    .command('instructions')
    .description('what an agent or a team is told: show it, save it, go back to an old version');
  about(instructions, 'show', 'the text that holds now, or that of a version')
    .argument('[version]', 'by the beginning of its id, or previous')
    .action((sort: Sort, name: string, version: string | undefined, flags: PersonaFlags) => asTarget(sort, name, flags, (it) => show(it, version, flags)));
  saving(about(instructions, 'save', 'save a text as the next version'))
    .argument('<file>', 'the file with the text, or - for stdin')
    .option('--on <version>', 'the version that the text was made from, by the beginning of its id, or none')
    .action((sort: Sort, name: string, file: string, flags: OnFlags) => asTarget(sort, name, flags, (it) => save(it, file, flags)));
  saving(about(instructions, 'edit', 'edit the text in $EDITOR, and save it as the next version'))
    .action((sort: Sort, name: string, flags: SaveFlags) => asTarget(sort, name, flags, (it) => edit(it, flags)));
  about(instructions, 'history', 'every version, newest first')
    .action((sort: Sort, name: string, flags: PersonaFlags) => asTarget(sort, name, flags, (it) => history(it, flags)));
  about(instructions, 'diff', 'what changed from the version before to the current one, or between two others')
    .argument('[from]', 'a version', 'previous')
    .argument('[to]', 'a version', 'current')
    .action((sort: Sort, name: string, from: string, to: string, flags: PersonaFlags) => asTarget(sort, name, flags, (it) => diff(it, [from, to], flags)));
  saving(about(instructions, 'restore', 'save the text of an old version as the next one'))
    .argument('<version>', 'by the beginning of its id, or previous')
    .action((sort: Sort, name: string, version: string, flags: SaveFlags) => asTarget(sort, name, flags, (it) => restore(it, version, flags)));
  saving(about(instructions, 'reset', 'save an agent\'s persona prompt as its next version'))
    .action((sort: Sort, name: string, flags: SaveFlags) => asTarget(sort, name, flags, (it) => reset(it, flags)));
  asking(about(instructions, 'delete', 'delete every version, until none is left'))
    .action((sort: Sort, name: string, flags: SaveFlags) => asTarget(sort, name, flags, (it) => remove(it, flags)));
}

interface Told {
  readonly personas: Personas;
  readonly target: Target;
}

function about(parent: Command, verb: string, description: string): Command {
  return placeOptions(parent.command(verb).description(description))
    .addArgument(new Argument('<sort>', 'whose').choices(['agent', 'team']))
    .argument('<name>', 'an agent: its name in the config, an npub or hex. A team: its id, the beginning of it, or its name', nonempty);
}

function nonempty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('expected a name');
}

function asking(command: Command): Command {
  return command.option('-y, --yes', 'do not ask');
}

function saving(command: Command): Command {
  return asking(command).option('--over', 'also over a version that was not seen');
}

function asTarget(sort: Sort, name: string, flags: PersonaFlags, work: (told: Told) => Promise<void>): Promise<void> {
  return asPersonas(flags, async (personas) => work({ personas, target: await targetOf(personas, sort, name) }));
}

async function show({ personas, target }: Told, version: string | undefined, { json = false }: PersonaFlags): Promise<void> {
  const standing = version === undefined ? await target.standing() : ofOne(await versionNamed(personas, target, version));
  const { source, text, fault } = standing;
  if (json) {
    print(jsonLine({ ...subjectJson(target), source, version: standing.version?.id ?? null, savedAt: savedAt(standing.version), ...textJson(text), text: text ?? null, fault: fault ?? null }));
    return;
  }
  if (text === undefined) throw new Failure('refused_input', fault ?? 'there is no text');
  tell(`${target.title}: ${sourceText(standing)}`);
  if (version === undefined) tellOverrides(target);
  // A screen obeys nothing that stands in it; a file gets the very bytes.
  if (process.stdout.isTTY) for (const line of screenLines(text)) print(line);
  else await write(text);
}

function ofOne(version: Version): Standing {
  const { reading } = version;
  return {
    source: 'version', version, text: reading.status === 'valid' ? reading.text : undefined,
    fault: reading.status === 'valid' ? undefined : `version ${version.id} is invalid; ${reading.detail}`,
  };
}

const SOURCES: Readonly<Record<Exclude<Standing['source'], 'version'>, string>> = {
  definition: 'no version yet; its persona\'s prompt', legacy: 'no version yet; what its instance on the relay says',
  record: 'no version yet; what its record says', none: 'no version yet, and no instructions', unreadable: 'no version yet; its persona cannot be read',
};

function sourceText({ source, version, text = '' }: Standing): string {
  const bytes = plural(Buffer.byteLength(text), 'byte');
  return source === 'version' ? `version ${shortId(version?.id ?? '')}, saved ${savedAt(version) ?? ''}, ${bytes}` : `${SOURCES[source]}, ${bytes}`;
}

function savedAt(version: Version | undefined): string | null {
  return version === undefined ? null : isoOf(version.createdAt * 1_000);
}

async function save({ personas, target }: Told, file: string, flags: OnFlags): Promise<void> {
  if (file === '-' && flags.yes !== true) throw new Failure('usage', 'instructions save -: expected --yes too, because stdin cannot be both the text and the answer');
  const text = await readSource(file);
  const standing = await target.standing();
  const { version } = standing;
  if (version !== undefined && flags.yes === true && flags.on === undefined && flags.over !== true && standing.text !== text) {
    throw new Failure('usage', `instructions save --yes: expected --on <version>, the one that the text was made from (${shortId(version.id)} is current), or --over`);
  }
  const seen = flags.on === undefined ? version?.id ?? 'none' : await seenAs(personas, target, flags.on);
  await saveShown(target, standing, text, seen, flags);
}

async function seenAs(personas: Personas, target: Target, on: string): Promise<SaveOrder['seen']> {
  return on === 'none' ? 'none' : (await versionNamed(personas, target, on)).id;
}

async function edit({ target }: Told, flags: SaveFlags): Promise<void> {
  const standing = await target.standing();
  await edited(standing.text ?? '', 'instructions.md', (text, agreed) => saveShown(target, standing, text, standing.version?.id ?? 'none', { ...flags, agreed }));
}

async function history({ personas, target }: Told, { json = false }: PersonaFlags): Promise<void> {
  const versions = await allVersions(personas, target);
  for (const [at, version] of versions.entries()) {
    const { reading, id } = version;
    const text = reading.status === 'valid' ? reading.text : undefined;
    const fault = reading.status === 'valid' ? null : reading.fault;
    if (json) {
      print(jsonLine({ version: id, savedAt: savedAt(version), current: at === 0, ...textJson(text), fault }));
    } else {
      const what = text === undefined ? `invalid: ${fault ?? ''}` : `${plural(Buffer.byteLength(text), 'byte')}, sha256 ${textJson(text).sha256?.slice(0, 12) ?? ''}`;
      print(`${shortId(id)}  ${savedAt(version) ?? ''}  ${what}${at === 0 ? '  current' : ''}`);
    }
  }
  if (versions.length === 0 && !json) print(`no version of ${target.title} yet`);
}

async function diff({ personas, target }: Told, names: readonly [string, string], { json = false }: PersonaFlags): Promise<void> {
  const versions = await allVersions(personas, target);
  const [from, to] = names.map((name) => pick(target, versions, name));
  if (from === undefined || to === undefined) throw new TypeError('two names, two versions');
  const [before, after] = [textOf(from), textOf(to)];
  const lines = diffLines(before, after, [`version ${shortId(from.id)}`, `version ${shortId(to.id)}`]);
  if (json) print(jsonLine({ ...subjectJson(target), from: from.id, to: to.id, same: before === after, lines }));
  else if (lines.length === 0) print('the same text');
  else for (const line of lines) print(line);
}

async function restore({ personas, target }: Told, name: string, flags: SaveFlags): Promise<void> {
  const versions = await allVersions(personas, target);
  const text = textOf(pick(target, versions, name));
  const standing = await target.standing();
  await saveShown(target, standing, text, standing.version?.id ?? 'none', flags);
}

async function reset({ target }: Told, flags: SaveFlags): Promise<void> {
  if (target.template === undefined) throw new Failure('usage', 'instructions reset: expected an agent; a team has no persona to be reset to');
  const standing = await target.standing();
  await saveShown(target, standing, await target.template(), standing.version?.id ?? 'none', flags);
}

async function remove({ personas, target }: Told, flags: SaveFlags): Promise<void> {
  const { length } = await allVersions(personas, target);
  if (length > 0) await confirm(`Delete all ${plural(length, 'version')} of ${target.title}? None of them can be restored afterwards.`, flags);
  const status = await patiently((patience) => deleteVersions(personas, target.subject, patience));
  if (flags.json === true) print(jsonLine({ status, ...subjectJson(target), versions: length }));
  if (status === 'stopped') throw new Failure('partly_done', `versions of ${target.title} may be left; the same command goes on`);
  if (flags.json !== true) print(length === 0 ? `no version of ${target.title} is left` : `deleted: no version of ${target.title} is left`);
}

/** Newest first. */
async function allVersions(personas: Personas, { subject }: Target): Promise<readonly Version[]> {
  const versions: Version[] = [];
  let cursor: Cursor | undefined;
  for (;;) {
    const { page } = taken(await historyPage(personas, subject, cursor));
    if (page.status === 'end') return versions;
    versions.push(...page.versions);
    ({ cursor } = page);
  }
}

async function versionNamed(personas: Personas, target: Target, name: string): Promise<Version> {
  return pick(target, await allVersions(personas, target), name);
}

const MIN_PREFIX = 4;

function pick(target: Target, versions: readonly Version[], name: string): Version {
  const placed = { current: versions[0], previous: versions[1] }[name];
  if (placed !== undefined) return placed;
  const found = /^[0-9a-f]+$/i.test(name) && name.length >= MIN_PREFIX ? versions.filter(({ id }) => id.startsWith(name.toLowerCase())) : [];
  const [version] = found;
  if (version !== undefined && found.length === 1) return version;
  const why = found.length > 1 ? `${plural(found.length, 'version')} begin so` : `${target.title} has ${plural(versions.length, 'version')}`;
  throw new Failure('usage', `version: expected the beginning of an id, at least ${MIN_PREFIX} characters, current or previous; ${why}`);
}

function textOf({ id, reading }: Version): string {
  if (reading.status === 'valid') return reading.text;
  throw new Failure('refused_input', `version ${shortId(id)} is invalid; ${reading.detail}`);
}
