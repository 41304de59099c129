import type { Dialect } from './dialect.ts';
import type { AdapterProfile } from './profile.ts';
import { USAGE_BY_LOOKING } from './usage.ts';

/** An operator's own words about a program: what is absent is as in `like`, or as of a program that nobody knows. */
export interface CustomAdapter extends Partial<Dialect> {
  readonly command: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A profile whose program this one is, or speaks as. */
  readonly like?: AdapterProfile;
}

/** The profile of any ACP agent: it is asked what it can, and trusted for nothing. */
export function customAdapter({ command, args = [], environment, like, ...own }: CustomAdapter): AdapterProfile {
  const base: Dialect = like?.dialect ?? { standing: 'capability', usage: USAGE_BY_LOOKING };
  return {
    ...(like ?? { agentNames: [], asking: { by: 'unknown', how: 'skep doctor shows its modes' }, needs: {} }),
    name: 'custom',
    title: 'Custom agent',
    launch: { runs: 'command', command, args },
    dialect: { ...base, ...own },
    environment: { ...like?.environment, ...environment },
  };
}
