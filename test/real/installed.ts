/** Where the agent programs lie that `npm run test:real` has fetched, and which of them there are. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type AgentName = 'sdk' | 'gemini' | 'codex' | 'claude';

interface Package {
  readonly package: string;
  readonly version: string;
}

const PACKAGES = JSON.parse(readFileSync(new URL('packages.json', import.meta.url), 'utf8')) as Readonly<Record<AgentName, Package>>;

/** As scripts/test-real.mjs has it. */
function cache(): string {
  const { SKEP_AGENTS: own, XDG_CACHE_HOME: users } = process.env;
  return own ?? join(users ?? join(homedir(), '.cache'), 'skep', 'agents');
}

/** The directory of an agent's packages, or why it is not there. */
export function installed(name: AgentName): { readonly modules: string } | { readonly missing: string } {
  const { package: title, version } = PACKAGES[name];
  const modules = join(cache(), `${name}-${version}`, 'node_modules');
  if (existsSync(join(modules, title, 'package.json'))) return { modules };
  return { missing: `${title}@${version} is not in ${cache()}: npm run test:real -- ${name} fetches it` };
}
