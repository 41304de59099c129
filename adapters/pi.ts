import type { AdapterProfile } from './profile.ts';

export const pi: AdapterProfile = {
  name: 'pi',
  title: 'Pi',
  launch: { runs: 'command', command: 'pi-acp', args: [] },
  standingRole: 'first-message',
  // Its usage_update says how full the context is, and nothing of what was used.
  usage: { turn: [], session: [], input: 'with-cache' },
  docsUrl: 'https://github.com/svkozak/pi-acp',
  notes: ['Never asks for permission: it runs every tool it decides to run.', 'Needs the program pi on PATH.'],
};
