import type { AdapterProfile } from './profile.ts';

export const opencode: AdapterProfile = {
  name: 'opencode',
  title: 'opencode',
  launch: { runs: 'command', command: 'opencode', args: ['acp'] },
  standingRole: 'first-message',
  usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' },
  docsUrl: 'https://opencode.ai/docs/cli/acp/',
  notes: [
    'Runs MCP tools without asking; its own tools ask only where its permission settings say "ask".',
    'SIGTERM while a tool runs leaves the tool behind.',
  ],
};
