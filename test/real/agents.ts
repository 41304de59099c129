/**
 * What a test has to know of an agent program to run it: as docs/agents.md tells an operator to, but for its model, which
 * is a played one on loopback, and a home of its own. Each program's stands in its test file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import type { AgentName } from './installed.ts';
import type { ModelCall } from './model/ports.ts';

export interface RealAgent {
  readonly name: AgentName;
  /** Writes what the program needs in its home; returns `env` of the agent in skep.yaml. */
  prepare(home: string, modelUrl: string): Readonly<Record<string, string>>;
  /** Runs a command in a way that asks for permission first. */
  shell(command: string): ModelCall;
  /** A model to switch to: an id as the program offers it, and as its provider is then asked for it. */
  readonly otherModel: { readonly id: string; readonly asked: string };
  /** It lets choose how hard it thinks, and `high` is one of the choices. */
  readonly efforts: boolean;
  /** What a turn comes to whose tool was refused. */
  readonly afterNo: string;
  /** What becomes of its conversation when its process is killed between two turns. */
  readonly afterKill: 'resumed' | 'new';
  /** Statuses of its provider that it tells of at once: others it tries again in silence. */
  readonly tellsOf: readonly (401 | 429)[];
  /** It takes a message while it is at work: else its turn is cut short for it. */
  readonly isSteered: boolean;
  /** A tool that runs is ended with its turn. */
  readonly endsToolAtCancel: boolean;
}

/** With the directories above it. */
export function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A line of an agent in skep.yaml. */
export function environmentLine(env: Readonly<Record<string, string>>): string {
  return `env: ${stringify(env, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`;
}
