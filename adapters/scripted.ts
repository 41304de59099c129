import type { AdapterProfile } from './profile.ts';
import { USAGE_BY_LOOKING } from './usage.ts';

export const scripted: AdapterProfile = {
  name: 'scripted',
  title: 'Scripted agent',
  launch: { runs: 'node-module', module: 'scripted', args: [] },
  agentNames: ['skep-scripted'],
  dialect: { standing: 'capability', usage: USAGE_BY_LOOKING },
  asking: { by: 'settings', how: 'where its script says `ask`' },
  needs: {},
  notes: ['Plays a script instead of asking a model; one more argument names the script. For demos and tests.'],
};
