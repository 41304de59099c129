/** The turns that the operator asks for, resolved: a prompt stands in the config or in a file of its own. */
import { resolve } from 'node:path';
import type { AgentConfig } from './config.ts';
import type { Path } from './document.ts';
import type { Fail } from './fail.ts';
import { readSmallFile } from './files.ts';
import { holdsSecretKey } from './found.ts';
import { MAX_INSTRUCTIONS_BYTES } from './schema.ts';
import type { WrittenAgent } from './schema.ts';

export function resolveOperator(
  folder: string, agent: WrittenAgent, at: (member: string) => Path, fail: Fail,
): Pick<AgentConfig, 'heartbeat' | 'initialPrompt' | 'operatorSession'> {
  const { heartbeat, 'initial-prompt': initial } = agent;
  return {
    ...(heartbeat && { heartbeat: { everyMs: heartbeat.every, prompt: promptOf(folder, heartbeat, at('heartbeat'), fail) } }),
    ...(initial && { initialPrompt: { when: initial.when, prompt: promptOf(folder, initial, at('initial-prompt'), fail) } }),
    operatorSession: agent['operator-session'],
  };
}

interface WrittenPrompt {
  readonly prompt?: string | undefined;
  readonly 'prompt-file'?: string | undefined;
}

function promptOf(folder: string, { prompt, 'prompt-file': file }: WrittenPrompt, path: Path, fail: Fail): string {
  const atFile = [...path, 'prompt-file'];
  if (file === undefined) return prompt ?? fail([...path, 'prompt'], 'missing, expected prompt or prompt-file');
  if (prompt !== undefined) return fail(atFile, 'found prompt, too, expected one of them');
  const read = readSmallFile(resolve(folder, file), file, MAX_INSTRUCTIONS_BYTES);
  if (!read.ok) return fail(atFile, read.sentence);
  if (holdsSecretKey(read.text)) return fail(atFile, 'found a secret key in it, agents hold no key');
  return read.text.trim() === '' ? fail(atFile, 'found an empty file, expected a text') : read.text;
}
