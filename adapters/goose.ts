import type { AdapterProfile } from './profile.ts';

export const goose: AdapterProfile = {
  name: 'goose',
  title: 'goose',
  launch: { runs: 'command', command: 'goose', args: ['acp'] },
  agentNames: ['goose'],
  dialect: {
    standing: 'goose-method', usage: { turn: [], session: ['goose'], input: 'with-cache' }, startMode: 'approve',
    errorSigns: [
      { means: 'limit', pattern: 'rate.?limit|too many requests|quota|overloaded' },
      { means: 'login', pattern: 're-?authenticate|authentication (?:error|failed)|api error: 401' },
    ],
  },
  environment: { GOOSE_MODE: 'approve' },
  asking: { by: 'environment', how: 'GOOSE_MODE is set to approve; another value in env overrides it' },
  traits: { steering: 'goose' },
  needs: { login: 'goose configure', install: 'brew install block-goose-cli' },
  docsUrl: 'https://block.github.io/goose/docs/guides/acp-clients',
  notes: ['Known from its documentation and dialect, not measured.'],
};
