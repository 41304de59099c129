import type { AdapterProfile } from './profile.ts';

export const gemini: AdapterProfile = {
  name: 'gemini',
  title: 'Gemini CLI',
  launch: { runs: 'command', command: 'gemini', args: ['--acp'] },
  agentNames: [],
  dialect: {
    standing: 'first-message',
    usage: { turn: ['quota'], session: [], input: 'with-cache' },
    replaysLate: true,
    startMode: 'default',
    errorSigns: [
      { means: 'limit', pattern: 'resource_exhausted|quota|rate.?limit|overloaded' },
      { means: 'login', pattern: 'unauthenticated|api key not valid|authentication required' },
    ],
  },
  // Started again by itself it is two processes, of which the first ignores SIGTERM.
  environment: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  asking: { by: 'start-mode', how: 'the mode default, in which it starts' },
  traits: {
    onReject: 'goes-on', onCancel: 'waits', onModelError: ['error', 'silent-retries'], steering: 'none',
    modelBy: ['set_model'], modeBy: ['set_mode'],
    load: 'unreliable', resume: false, close: false, onStdinEnd: 'exits-when-idle', toolAtSigterm: 'ends',
  },
  needs: {
    node: '>=20', login: 'GEMINI_API_KEY in env, or a login in ~/.gemini', install: 'npm install --global @google/gemini-cli',
    trust: { name: 'GEMINI_CLI_TRUST_WORKSPACE', value: 'true', without: 'in a folder it does not trust it starts no MCP server and takes no looser mode, without a word' },
  },
  docsUrl: 'https://github.com/google-gemini/gemini-cli',
  notes: [
    'Tells what was said in a session it loads also after it has answered, where it could pass for new: no session of it is loaded.',
    'Skips MCP servers in a folder it does not trust, without a word: GEMINI_CLI_TRUST_WORKSPACE=true in env trusts the agent\'s cwd.',
    'Asks before each call of an MCP tool, those of skep too, unless a file in ~/.gemini/policies allows the server.',
  ],
};
