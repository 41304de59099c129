import { closeSync } from 'node:fs';
import { serve } from './speaks-acp.mjs';

serve({ onPrompt: () => closeSync(1) });
setInterval(() => undefined, 60_000);
