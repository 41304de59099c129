import type { AdapterProfile } from './profile.ts';

export const claude: AdapterProfile = {
  name: 'claude',
  title: 'Claude Code',
  launch: { runs: 'command', command: 'claude-agent-acp', args: [] },
  agentNames: ['@agentclientprotocol/claude-agent-acp'],
  dialect: {
    standing: 'meta-append',
    usage: { turn: ['usage'], session: ['cost'], input: 'without-cache' },
    startMode: 'default',
    errorSigns: [
      { means: 'limit', pattern: 'api error: (?:429|529)|rate.?limit|overloaded|usage limit reached|hit your .{0,40}limit' },
      { means: 'login', pattern: 'api error: 40[13]|re-?authenticate|not logged in|please run /login|invalid (?:x-)?api.?key' },
    ],
    remarkSigns: [{ update: 'agent_message_chunk', path: ['_meta', 'claudeCode', 'kind'], value: 'informational' }],
  },
  asking: { by: 'start-mode', how: 'the mode default; without it, and without settings, it starts in auto and asks for nothing' },
  traits: {
    onReject: 'goes-on', onCancel: 'withdraws', onModelError: ['error', 'silent-retries'], steering: 'session',
    modelBy: ['set_config_option'], modeBy: ['set_config_option', 'set_mode'],
    load: 'yes', resume: true, close: true, onStdinEnd: 'exits', toolAtSigterm: 'ends',
  },
  needs: {
    node: '>=22',
    login: 'ANTHROPIC_API_KEY in env, or claude /login',
    install: 'npm install --global @agentclientprotocol/claude-agent-acp',
  },
  docsUrl: 'https://github.com/agentclientprotocol/claude-agent-acp',
  notes: [
    'Starts one command line program for each session.',
    'Killed while a tool runs, it leaves its command line program and the tool behind; skep ends both.',
    'Asks before each call of an MCP tool, those of skep too, unless its settings allow the server: { permissions: { allow: [mcp__buzz] } }.',
  ],
};
