import { join } from 'node:path';
import { write } from './agents.ts';
import type { RealAgent } from './agents.ts';
import { describeAgent } from './suites.ts';

const gemini: RealAgent = {
  name: 'gemini',
  prepare(home, modelUrl) {
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } };
    write(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    write(join(home, '.gemini', 'policies', 'buzz.toml'), '[[rule]]\nmcpName = "buzz"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n');
    return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  },
  shell: (command) => ({ tool: { name: 'run_shell_command' }, input: { command, description: 'asked for' } }),
  otherModel: { id: 'gemini-2.5-pro', asked: 'gemini-2.5-pro' },
  efforts: false,
  afterKill: 'new',
  afterNo: 'end_turn',
  tellsOf: [401],
  isSteered: false,
  endsToolAtCancel: true,
};

describeAgent(gemini);
