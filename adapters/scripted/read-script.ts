/**
 * Reads a whole script, version 1.
 * in: the parsed file. out: a Script, or a ScriptError that names the member. What can be known to fail before the
 * first prompt is refused here: unknown members, templates of names that nothing sets, gates without a directory.
 */
import { closed, ending, fileName, flag, integer, json, list, members, need, pick, rpcError } from './check.ts';
import { ScriptError, string, wrong } from './check.ts';
import type { Reader } from './check.ts';
import { isList, isMembers } from './json.ts';
import type { Json } from './json.ts';
import { conditions, readStep } from './read-step.ts';
import type { Act, FixedAnswer, Initialize, Match, NewSession, OnCancel, OnSteer, Rule, Script, Step } from './script.ts';
import { templateNames } from './template.ts';
import { VARIABLE_NAMES } from './variables.ts';

const MEMBERS = [
  'v', 'initialize', 'newSession', 'sessions', 'rules', 'onCancel', 'onSteer', 'answers', 'gates', 'banner', 'echo',
  'ignoreStdinEof', 'ignoreSigterm', 'dieAtStart', 'stdin',
];
/** Ten minutes: a start that is slower than every deadline, and still ends. */
const MAX_DELAY_MS = 600_000;
const MAX_TIMES = 1_000_000;

export function readScript(value: Json): Script {
  if (!isMembers(value)) return wrong('script', 'an object', value);
  const script = closed(value, '', MEMBERS);
  if (script['v'] !== 1) return wrong('v', '1, the version of this format', script['v'] ?? null);
  return {
    initialize: initialize(script['initialize'] ?? {}, 'initialize'),
    newSession: newSession(script['newSession'] ?? {}, 'newSession'),
    sessions: sessions(script['sessions'] ?? {}, 'sessions'),
    rules: need(script, 'rules', '', list(rule)),
    onCancel: onCancel(script['onCancel'] ?? [], 'onCancel'),
    onSteer: pick(script, 'onSteer', '', onSteer),
    answers: pick(script, 'answers', '', answers) ?? new Map(),
    gates: pick(script, 'gates', '', string),
    banner: pick(script, 'banner', '', list(string)) ?? [],
    echo: pick(script, 'echo', '', flag) ?? false,
    ignoreStdinEof: pick(script, 'ignoreStdinEof', '', flag) ?? false,
    ignoreSigterm: pick(script, 'ignoreSigterm', '', flag) ?? false,
    dieAtStart: pick(script, 'dieAtStart', '', dieAtStart),
    stdin: stdin(script['stdin'] ?? {}, 'stdin'),
  };
}

/** Every act of the script, wherever it stands: what the program must have ready before it starts. */
export function actsOf(script: Script): readonly Act[] {
  const { before = [], after = [] } = script.onSteer ?? {};
  return [...script.rules.flatMap((one) => one.steps), ...script.onCancel.steps, ...before, ...after].map((step) => step.act);
}

/** Whether its sessions outlive the process. */
export function keepsSessions({ sessions: { load, resume } }: Script): boolean {
  return load || resume;
}

/** Whether the script needs a gates directory. */
export function needsGates(script: Script): boolean {
  const waits = actsOf(script).some((act) => act.type === 'mark' || (act.type === 'wait' && act.on.type === 'gate'));
  return waits || keepsSessions(script) || script.rules.some((one) => one.once !== undefined);
}

function rule(value: Json, path: string): Rule {
  const object = closed(value, path, ['match', 'when', 'unless', 'times', 'once', 'do']);
  return {
    match: pick(object, 'match', path, match),
    when: pick(object, 'when', path, conditions) ?? new Map(),
    unless: pick(object, 'unless', path, conditions) ?? new Map(),
    times: pick(object, 'times', path, integer(1, MAX_TIMES)) ?? Infinity,
    once: pick(object, 'once', path, fileName),
    steps: need(object, 'do', path, steps),
  };
}

/** A text between slashes is a regular expression, any other a substring. */
const match: Reader<Match> = (value, path) => {
  const text = string(value, path);
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === undefined || flags === undefined) return { type: 'text', text };
  // A sticky or global regular expression remembers where it stopped; a rule must not.
  if (/[gy]/.test(flags)) return wrong(path, 'flags without g and y', value);
  try {
    return { type: 'regex', regex: new RegExp(source, flags) };
  } catch (error) {
    throw new ScriptError(`${path}: ${error instanceof Error ? error.message : 'not a regular expression'}`);
  }
};

function steps(value: Json, path: string): readonly Step[] {
  const known = new Set<string>(VARIABLE_NAMES);
  return list((entry, at) => {
    const step = readStep(entry, at);
    for (const { name, path: place } of templateNames(entry, at)) {
      if (known.has(name)) continue;
      throw new ScriptError(`${place}: {{${name}}} is neither a fact nor captured by a step above`);
    }
    for (const condition of [...step.when.keys(), ...step.unless.keys()]) {
      const name = condition.split('.')[0] ?? '';
      if (!known.has(name)) throw new ScriptError(`${at}: condition on ${name}, which no step above captures`);
    }
    if (step.as !== undefined) {
      if (VARIABLE_NAMES.some((name) => name === step.as)) throw new ScriptError(`${at}.as: ${step.as} is a fact`);
      known.add(step.as);
    }
    return step;
  })(value, path);
}

function initialize(value: Json, path: string): Initialize {
  const names = ['protocolVersion', 'capabilities', 'agentInfo', 'authMethods', 'meta', 'delayMs', 'never', 'error'];
  const object = closed(value, path, [...names, 'dieBefore']);
  return {
    protocolVersion: pick(object, 'protocolVersion', path, integer(0, 65_535)) ?? 1,
    capabilities: pick(object, 'capabilities', path, members),
    agentInfo: pick(object, 'agentInfo', path, members),
    authMethods: pick(object, 'authMethods', path, list(json)) ?? [],
    meta: pick(object, 'meta', path, members),
    delayMs: pick(object, 'delayMs', path, integer(0, MAX_DELAY_MS)) ?? 0,
    never: pick(object, 'never', path, flag) ?? false,
    error: pick(object, 'error', path, rpcError),
    dieBefore: pick(object, 'dieBefore', path, ending),
  };
}

function newSession(value: Json, path: string): NewSession {
  const names = ['error', 'never', 'systemPrompt', 'modes', 'models', 'configOptions', 'before', 'after'];
  const object = closed(value, path, names);
  return {
    error: pick(object, 'error', path, rpcError),
    never: pick(object, 'never', path, flag) ?? false,
    systemPrompt: pick(object, 'systemPrompt', path, flag) ?? false,
    modes: object['modes'],
    models: object['models'],
    configOptions: object['configOptions'],
    before: pick(object, 'before', path, list(members)) ?? [],
    after: pick(object, 'after', path, list(members)) ?? [],
  };
}

function sessions(value: Json, path: string): Script['sessions'] {
  const object = closed(value, path, ['load', 'resume', 'close']);
  return {
    load: pick(object, 'load', path, flag) ?? false,
    resume: pick(object, 'resume', path, flag) ?? false,
    close: pick(object, 'close', path, flag) ?? false,
  };
}

function onCancel(value: Json, path: string): OnCancel {
  if (isList(value)) return { waitForAsks: false, steps: steps(value, path) };
  const object = closed(value, path, ['waitForAsks', 'do']);
  return {
    waitForAsks: pick(object, 'waitForAsks', path, flag) ?? false,
    steps: pick(object, 'do', path, steps) ?? [],
  };
}

const onSteer: Reader<OnSteer> = (value, path) => {
  const object = closed(value, path, ['answer', 'before', 'after']);
  return {
    answer: pick(object, 'answer', path, steerAnswer) ?? { type: 'outcome', outcome: 'injected' },
    before: pick(object, 'before', path, steps) ?? [],
    after: pick(object, 'after', path, steps) ?? [],
  };
};

const steerAnswer: Reader<OnSteer['answer']> = (value, path) => {
  switch (value) {
    case 'injected':
    case 'startedNewTurn':
    case 'promptRequired':
      return { type: 'outcome', outcome: value };
    case 'never':
      return { type: 'never' };
    default:
      return isMembers(value) ? fixed(value, path) : wrong(path, 'injected, startedNewTurn, promptRequired, never, or an object', value);
  }
};

const answers: Reader<ReadonlyMap<string, FixedAnswer>> = (value, path) =>
  new Map(Object.entries(members(value, path)).map(([method, answer]) => [method, fixed(answer, `${path}.${method}`)]));

function fixed(value: Json, path: string): FixedAnswer {
  const object = closed(value, path, ['result', 'error', 'never', 'die']);
  const error = pick(object, 'error', path, rpcError);
  if (error !== undefined) return { type: 'error', error };
  const dies = pick(object, 'die', path, ending);
  if (dies !== undefined) return { type: 'die', ending: dies };
  if (pick(object, 'never', path, flag) === true) return { type: 'never' };
  return { type: 'result', result: need(object, 'result', path, json) };
}

const dieAtStart: Reader<Script['dieAtStart']> = (value, path) => {
  if (!isMembers(value)) return { ending: ending(value, path), afterMs: 0 };
  const object = closed(value, path, ['with', 'afterMs']);
  return {
    ending: need(object, 'with', path, ending),
    afterMs: pick(object, 'afterMs', path, integer(0, MAX_DELAY_MS)) ?? 0,
  };
};

function stdin(value: Json, path: string): Script['stdin'] {
  const object = closed(value, path, ['dieAfterBytes', 'pauseAfterBytes']);
  const bytes = integer(1, Number.MAX_SAFE_INTEGER);
  return {
    dieAfterBytes: pick(object, 'dieAfterBytes', path, bytes),
    pauseAfterBytes: pick(object, 'pauseAfterBytes', path, bytes),
  };
}
