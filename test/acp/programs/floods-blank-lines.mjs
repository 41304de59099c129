import { serve, write } from './speaks-acp.mjs';

serve({ onPrompt: () => write('\n'.repeat(5_000)) });
