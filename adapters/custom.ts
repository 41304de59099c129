import type { AdapterProfile } from './profile.ts';
import { USAGE_BY_LOOKING } from './usage.ts';

/** The profile of any ACP agent that the catalogue does not know: it is asked what it can, and trusted for nothing. */
export function customAdapter(command: string, args: readonly string[] = []): AdapterProfile {
  return {
    name: 'custom',
    title: 'Custom agent',
    launch: { runs: 'command', command, args },
    standingRole: 'capability',
    usage: USAGE_BY_LOOKING,
  };
}
