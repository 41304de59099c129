/**
 * `adapter` of an agent: a name of the catalogue, or an operator's own words about a program of theirs, down to the places
 * where agents differ. A program that nobody has met needs no code.
 */
import { z } from 'zod';
import { adapterNames, customAdapter, findAdapter } from '../../adapters/index.ts';
import type { AdapterProfile, CustomAdapter } from '../../adapters/index.ts';
import { shown } from './found.ts';
import { closed, environment, leaf, list, Mistake, text, word } from './leaf.ts';
import type { Leaf } from './leaf.ts';
import { nearest } from './nearest.ts';

export const args = list(text('a text', 32_768), { min: 0, max: 256, expected: 'a list of at most 256 texts' });

const MAX_SIGNS = 16;

function catalogued(expected: string): Leaf<AdapterProfile> {
  return leaf(expected, (value) => {
    if (typeof value !== 'string') return undefined;
    const profile = findAdapter(value);
    const near = nearest(value, adapterNames);
    if (profile !== undefined) return profile;
    return near === undefined ? undefined : new Mistake(`found "${shown(value)}", did you mean ${near}?`);
  });
}

const signs = list(
  closed(
    {
      update: text('the kind of a session/update, such as session_info_update', 128),
      path: list(text('the name of a member', 128), { min: 1, max: 8, expected: 'a list of 1..8 names' }),
      value: text('the text that stands there', 256),
    },
    'a mapping of update, path and value',
  ),
  { min: 0, max: MAX_SIGNS, expected: `a list of at most ${MAX_SIGNS} signs` },
);

const pattern = leaf('a regular expression of at most 512 characters', (value) => {
  if (typeof value !== 'string' || value === '' || value.length > 512) return undefined;
  try {
    new RegExp(value, 'i');
    return value;
  } catch {
    return undefined;
  }
});

const errors = list(
  closed(
    { 'means': word(['login', 'limit']), pattern, 'in-answer': leaf('true or false', (value) => (typeof value === 'boolean' ? value : undefined)).optional() },
    'a mapping of means, pattern and in-answer',
  ),
  { min: 0, max: MAX_SIGNS, expected: `a list of at most ${MAX_SIGNS} signs` },
);

const usage = closed(
  {
    turn: list(word(['usage', 'quota']), { min: 0, max: 2, expected: 'a list of usage and quota' }).default([]),
    session: list(word(['cost', 'goose']), { min: 0, max: 2, expected: 'a list of cost and goose' }).default([]),
    input: word(['with-cache', 'without-cache', 'by-total']).default('by-total'),
  },
  'a mapping of turn, session and input',
);

const custom = closed(
  {
    command: text('a program'),
    args: args.default([]),
    like: catalogued(`one of ${adapterNames.join(', ')}`).optional(),
    env: environment().optional(),
    standing: word(['capability', 'meta-append', 'goose-method', 'first-message']).optional(),
    mode: text('the id of a mode', 128).optional(),
    usage: usage.optional(),
    failures: signs.optional(),
    errors: errors.optional(),
    remarks: signs.optional(),
  },
  'a catalogue name, or a mapping of command and args',
);

const byName = catalogued(`one of ${adapterNames.join(', ')}, or a mapping of command and args`);

/** A mapping describes a program of the operator's own; anything else must be a name of the catalogue. */
export const adapter = z.unknown().transform((value, context): AdapterProfile => {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  const parsed = isMapping ? custom.transform(profileOf).safeParse(value) : byName.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    // A closed mapping's stranger is named by the path, as everywhere.
    const stranger = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    context.addIssue({ code: 'custom', message: issue.message, path: [...issue.path, ...stranger] });
  }
  return z.NEVER;
});

function profileOf({ command, args: words, like, env, standing, mode, usage: shape, failures, errors: errorSigns, remarks }: z.output<typeof custom>): AdapterProfile {
  const own: CustomAdapter = {
    command,
    args: words,
    ...(like && { like }),
    ...(env && { environment: env }),
    ...(standing && { standing }),
    ...(mode !== undefined && { startMode: mode }),
    ...(shape && { usage: shape }),
    ...(failures && { failureSigns: failures }),
    ...(errorSigns && {
      errorSigns: errorSigns.map(({ means, pattern: words, 'in-answer': inAnswer }) => ({ means, pattern: words, ...(inAnswer !== undefined && { inAnswer }) })),
    }),
    ...(remarks && { remarkSigns: remarks }),
  };
  return customAdapter(own);
}
