import type { AdapterProfile } from './profile.ts';

export const gemini: AdapterProfile = {
  name: 'gemini',
  title: 'Gemini CLI',
  launch: { runs: 'command', command: 'gemini', args: ['--acp'] },
  standingRole: 'first-message',
  usage: { turn: ['quota'], session: [], input: 'with-cache' },
  docsUrl: 'https://github.com/google-gemini/gemini-cli',
  notes: [
    'Starts itself a second time and then ignores SIGTERM, unless GEMINI_CLI_NO_RELAUNCH=true.',
    'Skips MCP servers in a folder it does not trust.',
  ],
};
