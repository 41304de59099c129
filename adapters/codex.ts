import type { AdapterProfile } from './profile.ts';

export const codex: AdapterProfile = {
  name: 'codex',
  title: 'Codex',
  launch: { runs: 'command', command: 'codex-acp', args: [] },
  standingRole: 'capability',
  usage: { turn: ['usage'], session: [], input: 'without-cache' },
  docsUrl: 'https://github.com/agentclientprotocol/codex-acp',
  notes: [
    'Starts in the mode "agent" whatever its config file says; INITIAL_AGENT_MODE sets another.',
    'Takes about two seconds to end after its input is closed.',
  ],
};
