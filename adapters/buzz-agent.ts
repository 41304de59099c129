import type { AdapterProfile } from './profile.ts';

export const buzzAgent: AdapterProfile = {
  name: 'buzz-agent',
  title: 'Buzz agent',
  launch: { runs: 'command', command: 'buzz-agent', args: [] },
  // It takes a system prompt in session/new from protocol version 2 on only; version 1 is spoken here.
  standingRole: 'first-message',
  usage: { turn: [], session: ['goose'], input: 'with-cache' },
  docsUrl: 'https://github.com/block/buzz',
};
