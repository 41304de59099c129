import type { AdapterProfile } from './profile.ts';

export const claude: AdapterProfile = {
  name: 'claude',
  title: 'Claude Code',
  launch: { runs: 'command', command: 'claude-agent-acp', args: [] },
  standingRole: 'meta-append',
  usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' },
  docsUrl: 'https://github.com/agentclientprotocol/claude-agent-acp',
  notes: [
    'Without a settings file its mode is auto, in which it asks for no permission: set permissions.defaultMode.',
    'Killed while a tool runs, it leaves its command line program and the tool behind.',
  ],
};
