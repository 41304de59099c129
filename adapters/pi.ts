import type { AdapterProfile } from './profile.ts';

export const pi: AdapterProfile = {
  name: 'pi',
  title: 'Pi',
  launch: { runs: 'command', command: 'pi-acp', args: [] },
  agentNames: [],
  dialect: {
    standing: 'first-message',
    // Its usage_update says how full the context is, and nothing of what was used.
    usage: { turn: [], session: [], input: 'with-cache' },
    // Seen of HTTP 429 and 500 alike, after which the turn "ends"; a try that succeeds is followed by the answer.
    errorSigns: [{ means: 'limit', pattern: '(?:\\s*(?:retrying(?: \\(attempt \\d+/\\d+[^)]*\\))?\\.*|retry finished, resuming\\.))+\\s*$', inAnswer: true }],
  },
  environment: { PI_SKIP_VERSION_CHECK: '1' },
  asking: { by: 'nothing', how: 'it never asks: it runs every tool it decides to run' },
  traits: {
    onReject: 'never-asks', onCancel: 'withdraws', onModelError: ['end-of-turn'], steering: 'none',
    modelBy: ['set_config_option'], modeBy: [],
    load: 'yes', resume: false, close: false, onStdinEnd: 'exits', toolAtSigterm: 'ends',
  },
  needs: {
    node: '>=22.19',
    programs: ['pi'],
    login: 'a provider in ~/.pi/agent/models.json',
    install: 'npm install --global pi-acp @earendil-works/pi-coding-agent',
  },
  docsUrl: 'https://github.com/svkozak/pi-acp',
  notes: ['Passes over MCP servers.', 'Says that it tries again as if the model had said it, before its answer.', 'Its "modes" are levels of thinking.'],
};
