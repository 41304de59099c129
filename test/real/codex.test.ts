import { join } from 'node:path';
import { write } from './agents.ts';
import type { RealAgent } from './agents.ts';
import { describeAgent } from './suites.ts';

const codex: RealAgent = {
  name: 'codex',
  prepare(home, modelUrl) {
    write(join(home, '.codex', 'config.toml'), `model = "gpt-5.5"
model_provider = "played"
[model_providers.played]
name = "Played"
base_url = "${modelUrl}/v1"
env_key = "PLAYED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
plugin_discovery_prefetch = false
remote_plugin = false
apps = false
[analytics]
enabled = false
`);
    return { CODEX_HOME: join(home, '.codex'), PLAYED_KEY: 'none' };
  },
  shell: (command) => ({ tool: { name: 'exec_command' }, input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'asked for' } }),
  otherModel: { id: 'gpt-6-sol', asked: 'gpt-6-sol' },
  efforts: true,
  afterKill: 'resumed',
  afterNo: 'cancelled',
  tellsOf: [401, 429],
  isSteered: true,
  endsToolAtCancel: false,
};

describeAgent(codex);
