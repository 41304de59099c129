import type { AdapterProfile } from './profile.ts';

export const codex: AdapterProfile = {
  name: 'codex',
  title: 'Codex',
  launch: { runs: 'command', command: 'codex-acp', args: [] },
  agentNames: [],
  dialect: {
    standing: 'capability',
    usage: { turn: ['usage'], session: [], input: 'without-cache' },
    startMode: 'read-only',
    errorSigns: [
      { means: 'limit', pattern: '\\b429\\b|too many requests|rate.?limit|usage limit|quota|overloaded|at capacity' },
      { means: 'login', pattern: '\\b401\\b|authentication required|not logged in|sign in again' },
    ],
    failureSigns: [{ update: 'session_info_update', path: ['_meta', 'codex', 'threadStatus', 'type'], value: 'systemError' }],
  },
  environment: { NO_BROWSER: '1' },
  asking: { by: 'start-mode', how: 'the mode read-only; it starts in agent whatever its config file says' },
  traits: {
    onReject: 'turn-cancelled', onCancel: 'withdraws', onModelError: ['end-of-turn', 'error'], steering: 'session',
    modelBy: ['set_config_option', 'set_model'], modeBy: ['set_config_option', 'set_mode'],
    load: 'yes', resume: true, close: true, onStdinEnd: 'exits', toolAtSigterm: 'ends',
  },
  needs: {
    login: 'OPENAI_API_KEY or CODEX_API_KEY in env, or a provider in CODEX_HOME/config.toml',
    install: 'npm install --global @agentclientprotocol/codex-acp',
  },
  docsUrl: 'https://github.com/agentclientprotocol/codex-acp',
  notes: [
    'Takes about two seconds to end after its input is closed.',
    'A tool that runs when a turn is cancelled runs on until the session is closed or the program ends.',
    'Hides the tools of MCP servers behind a search of its own with the models it knows: one that does not search has its text sent as its answer.',
    'Says a warning as if the model had said it where it does not know the model; nothing in the frame tells the two apart.',
  ],
};
