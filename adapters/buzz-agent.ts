import type { AdapterProfile } from './profile.ts';

export const buzzAgent: AdapterProfile = {
  name: 'buzz-agent',
  title: 'Buzz agent',
  launch: { runs: 'command', command: 'buzz-agent', args: [] },
  agentNames: [],
  dialect: {
    // It takes a system prompt in session/new from protocol version 2 on only; version 1 is spoken here.
    standing: 'first-message',
    usage: { turn: [], session: ['goose'], input: 'with-cache' },
    errorSigns: [
      { means: 'limit', pattern: 'rate.?limit|too many requests|quota|overloaded' },
      { means: 'login', pattern: 're-?authenticate|api error: 401' },
    ],
  },
  asking: { by: 'unknown', how: 'not measured' },
  traits: { steering: 'goose' },
  needs: { login: 'the key of its model provider in env' },
  docsUrl: 'https://github.com/block/buzz',
  notes: ['Known from its documentation and dialect, not measured.'],
};
