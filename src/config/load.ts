/**
 * A config file, from its bytes to a `Config`: read, parse, check against the schema, resolve, warn. The first mistake
 * is told, in one line: file, line, member, what was found, what is expected. A mistyped member comes before what is
 * missing because of it.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { Failure } from '../model/index.ts';
import type { Config } from './config.ts';
import { parseSource } from './document.ts';
import type { Path, SourceDocument } from './document.ts';
import { readSmallFile } from './files.ts';
import type { Fail } from './fail.ts';
import { UNKNOWN_MEMBER } from './leaf.ts';
import { shown } from './found.ts';
import { resolveConfig } from './resolve.ts';
import { schema } from './schema.ts';
import { warningsOf } from './warnings.ts';

/** A config is written by hand: beyond this it is not one. */
const MAX_FILE_BYTES = 1_048_576;

/** What the machine can bear; a parameter so that a test can hold it. */
export interface Machine {
  readonly cores: number;
  /** Unix time, for what expires; now, unless told otherwise. */
  readonly nowMs?: number;
}

/** Throws `Failure('config')` with a one-line message. Reads the key files it names and nothing else. */
export function loadConfig(path: string, machine: Machine = { cores: availableParallelism() }): Config {
  const file = readSmallFile(resolve(path), path, MAX_FILE_BYTES);
  if (!file.ok) throw new Failure('config', `config: ${shown(path)} ${file.reason}${file.isMissing ? '; skep init writes one' : ''}`);
  const parsed = parseSource(file.text);
  if (!parsed.ok) throw new Failure('config', `${shown(path)}:${parsed.line}: ${parsed.detail}`);
  const fail: Fail = (member, sentence) => {
    throw new Failure('config', `${shown(path)}:${parsed.source.lineOf(member)}: ${memberText(member)}${sentence}`);
  };
  const checked = schema.safeParse(parsed.source.value);
  if (!checked.success) {
    const { path: member, message } = firstOf(checked.error.issues, parsed.source);
    return fail(member, message);
  }
  const nowMs = machine.nowMs ?? Date.now();
  const config = resolveConfig(resolve(path), checked.data, { nowMs, fail });
  return { ...config, warnings: warningsOf(config, { cores: machine.cores, nowMs, mode: file.stats.mode }) };
}

interface Told {
  readonly path: Path;
  readonly message: string;
}

function firstOf(issues: readonly z.core.$ZodIssue[], source: SourceDocument): Told {
  const told = issues.map((issue): Told & { readonly rank: number } => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    const stranger = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const isStranger = stranger.length > 0 || issue.message.startsWith(UNKNOWN_MEMBER);
    return { path: [...path, ...stranger], message: issue.message, rank: isStranger ? 0 : 1 };
  });
  told.sort((a, b) => a.rank - b.rank || source.lineOf(a.path) - source.lineOf(b.path));
  const [first] = told;
  if (first === undefined) throw new TypeError('a schema failed without an issue');
  return first;
}

function memberText(path: Path): string {
  if (path.length === 0) return '';
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${shown(step)}`)).join('');
  return `${text.replace(/^\./, '')}: `;
}
