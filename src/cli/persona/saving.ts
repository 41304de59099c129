/** One save of instructions as a person makes it: shown as a difference, asked, saved, and what came of it told. */
import { hash } from 'node:crypto';
import { Failure, shortId } from '../../model/index.ts';
import type { SaveOrder, SaveOutcome } from '../../persona/index.ts';
import { jsonLine } from '../owner-text.ts';
import { plural, print, tell } from '../print.ts';
import { confirm } from './ask.ts';
import type { AskFlags } from './ask.ts';
import { failureOf } from './open.ts';
import type { PersonaFlags } from './open.ts';
import type { Standing, Target } from './subject.ts';
import { diffLines } from './text-diff.ts';

export interface SaveFlags extends PersonaFlags, AskFlags {
  readonly over?: boolean;
}

/** `seen` is the version that the new text was made from; undefined: whichever is current when it is saved. */
export async function saveShown(target: Target, standing: Standing, text: string, seen: SaveOrder['seen'], flags: SaveFlags): Promise<void> {
  if (standing.source === 'version' && standing.text === text) {
    if (flags.json === true) print(jsonLine({ status: 'unchanged', ...subjectJson(target), version: standing.version?.id ?? null }));
    else print(`nothing to save: that is what ${target.title} has`);
    return;
  }
  showDiff(standing, text);
  tellOverrides(target);
  await confirm(`Save this as the next version of ${target.title}?`, flags);
  tellOutcome(target, await target.save(text, flags.over === true ? undefined : seen), text, flags);
}

/** On stderr: it is no answer, and stands before the question. */
function showDiff({ text: before, version, fault }: Standing, after: string): void {
  if (fault !== undefined) tell(fault);
  const lines = diffLines(before ?? '', after, [version === undefined ? 'now' : `version ${shortId(version.id)}`, 'next']);
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
}

function tellOutcome(target: Target, outcome: SaveOutcome, text: string, { json = false }: SaveFlags): void {
  const { title } = target;
  if (outcome.status === 'failed') throw failed(outcome.refusal);
  if (outcome.status === 'unknown') {
    throw new Failure('unanswered', `the relay gave no verdict on version ${shortId(outcome.event.id)} of ${title}: see skep instructions history; ${outcome.detail}`);
  }
  const { id, earlier } = outcome;
  const by = outcome.status === 'superseded' ? outcome.by : null;
  const over = outcome.status === 'current' ? outcome.over : undefined;
  if (json) print(jsonLine({ status: outcome.status, ...subjectJson(target), version: id, by, over: over ?? null, earlier, ...textJson(text) }));
  if (over !== undefined) tell(`version ${shortId(over)} of ${title}, saved elsewhere at the same moment, was not seen and stands behind it; see skep instructions diff`);
  if (earlier === 'kept' && !json) print('kept as the first version: the text of until now');
  if (earlier === 'unfit') tell('the text of until now is not in the history: no version can hold it');
  switch (outcome.status) {
    case 'current':
      if (!json) print(`saved: version ${shortId(id)} of ${title} is current, ${plural(Buffer.byteLength(text), 'byte')}; an agent has it from its next start`);
      return;
    case 'superseded':
      throw new Failure('partly_done', `version ${shortId(id)} of ${title} is stored and in the history, and ${shortId(outcome.by)}, saved elsewhere, is current`);
    case 'stored':
      throw new Failure('partly_done', `the relay took version ${shortId(id)} of ${title}; whether it is current could not be read`);
    default:
      throw new TypeError('an outcome that is none');
  }
}

function failed(refusal: Extract<SaveOutcome, { readonly status: 'failed' }>['refusal']): Failure {
  if (refusal.code !== 'unseen') return failureOf(refusal);
  return new Failure('not_changed', `nothing was saved: another version is current than the one that was seen; ${refusal.detail}; look at it with skep instructions diff, or save over it with --over`);
}

/** For the owner to know that what they save, or see here, is not what an agent of this machine is told. */
export function tellOverrides({ overrides, title }: Target): void {
  for (const source of overrides) tell(`${source} stands on this machine in the place of what ${title} says`);
}

export function subjectJson({ subject, name }: Target): object {
  return { subject: subject.type, id: subject.type === 'agent' ? subject.agent : subject.team, name };
}

/** Size and hash of a text, null for none. */
export function textJson(text: string | undefined): { readonly bytes: number | null; readonly sha256: string | null } {
  return text === undefined ? { bytes: null, sha256: null } : { bytes: Buffer.byteLength(text), sha256: hash('sha256', text, 'hex') };
}
