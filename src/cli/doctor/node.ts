/** Whether the Node that an agent program finds on its PATH is the one it needs. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AdapterProfile } from '../../../adapters/index.ts';
import { findProgram } from '../../acp/index.ts';
import { ok, problem } from './finding.ts';
import type { Finding } from './finding.ts';

const ANSWER_MS = 5_000;

export async function nodeFinding({ needs: { node } }: AdapterProfile, env: Readonly<Record<string, string>>, cwd: string): Promise<readonly Finding[]> {
  if (node === undefined) return [];
  const program = findProgram({ command: 'node', cwd, env });
  const version = program === undefined ? undefined : await versionOf(program, env);
  if (version === undefined) return [problem('node', `it needs Node ${node}, and there is none on its PATH`, 'put one on PATH')];
  if (isAtLeast(version, node)) return [ok('node', `${version}, ${node} is needed`)];
  return [problem('node', `it needs Node ${node}, and finds ${version}`, 'put a newer Node first on the agent\'s PATH (env in skep.yaml)')];
}

/** `needed` in the form `>=22.19`; both may have fewer parts. Pure. */
export function isAtLeast(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => (text.match(/\d+/g) ?? []).map(Number));
  for (const [at, part] of (want ?? []).entries()) {
    const mine = have?.[at] ?? 0;
    if (mine !== part) return mine > part;
  }
  return true;
}

async function versionOf(program: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  try {
    return (await promisify(execFile)(program, ['--version'], { env, timeout: ANSWER_MS })).stdout.trim();
  } catch {
    return undefined;
  }
}
