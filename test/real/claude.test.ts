import { join } from 'node:path';
import { write } from './agents.ts';
import type { RealAgent } from './agents.ts';
import { describeAgent } from './suites.ts';

const claude: RealAgent = {
  name: 'claude',
  prepare(home, modelUrl) {
    write(join(home, '.claude', 'settings.json'), JSON.stringify({ permissions: { allow: ['mcp__buzz'] } }));
    return {
      ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: modelUrl, CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1',
    };
  },
  shell: (command) => ({ tool: { name: 'Bash' }, input: { command, description: 'asked for' } }),
  otherModel: { id: 'haiku', asked: 'claude-haiku-5-5' },
  efforts: true,
  afterKill: 'resumed',
  afterNo: 'end_turn',
  tellsOf: [],
  isSteered: true,
  endsToolAtCancel: true,
};

describeAgent(claude);
