import type { AdapterProfile } from './profile.ts';

export const goose: AdapterProfile = {
  name: 'goose',
  title: 'goose',
  launch: { runs: 'command', command: 'goose', args: ['acp'] },
  standingRole: 'first-message',
  usage: { turn: [], session: ['goose'], input: 'with-cache' },
  docsUrl: 'https://block.github.io/goose/docs/guides/acp-clients',
};
