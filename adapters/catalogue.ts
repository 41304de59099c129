/**
 * The catalogue: every agent program that a config file can name by one word.
 * in: a name. out: its profile. Programs are found on PATH when they are started, never installed or fetched.
 */
import { buzzAgent } from './buzz-agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { goose } from './goose.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import type { AdapterProfile } from './profile.ts';
import { scripted } from './scripted.ts';

const CATALOGUE: ReadonlyMap<string, AdapterProfile> = new Map(
  [goose, claude, codex, gemini, opencode, buzzAgent, pi, scripted].map((profile) => [profile.name, profile]),
);

/** In the order in which they are offered. */
export const adapterNames: readonly string[] = [...CATALOGUE.keys()];

/** The profile of the program that calls itself so, or that is started by a command of that name. */
export function recognizeAdapter({ agentName, command }: { readonly agentName?: string; readonly command?: string }): AdapterProfile | undefined {
  const called = agentName?.trim().toLowerCase() ?? '';
  const base = command?.split(/[/\\]/).at(-1)?.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
  const profiles = [...CATALOGUE.values()];
  return profiles.find(({ agentNames }) => agentNames.includes(called))
    ?? profiles.find(({ launch }) => launch.runs === 'command' && launch.command === base);
}

/** The profile of that exact name, or undefined. */
export function findAdapter(name: string): AdapterProfile | undefined {
  return CATALOGUE.get(name);
}
