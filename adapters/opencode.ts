import type { AdapterProfile } from './profile.ts';

export const opencode: AdapterProfile = {
  name: 'opencode',
  title: 'opencode',
  launch: { runs: 'command', command: 'opencode', args: ['acp'] },
  agentNames: [],
  dialect: {
    standing: 'first-message', usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' },
    errorSigns: [
      { means: 'limit', pattern: 'rate.?limit|too many requests|overloaded|quota' },
      { means: 'login', pattern: 'unauthorized|invalid.{0,20}api.?key|authentication' },
    ],
  },
  environment: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  asking: { by: 'settings', how: 'permission: { bash: ask, edit: ask } in its opencode.json; without it nothing is asked' },
  traits: {
    onReject: 'turn-ends', onCancel: 'withdraws', onModelError: ['error', 'silent-retries'], steering: 'none',
    modelBy: ['set_config_option', 'set_model'], modeBy: ['set_config_option', 'set_mode'],
    load: 'yes', resume: true, close: true, onStdinEnd: 'exits', toolAtSigterm: 'lives-on',
  },
  needs: { login: 'opencode auth login, or a provider in opencode.json', install: 'npm install --global opencode-ai' },
  docsUrl: 'https://opencode.ai/docs/cli/acp/',
  notes: ['Runs MCP tools without asking, whatever its settings say.'],
};
