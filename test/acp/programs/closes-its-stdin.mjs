import { closeSync } from 'node:fs';
import { serve } from './speaks-acp.mjs';

serve({
  onPrompt: () => {
    process.stdin.destroy();
    try {
      closeSync(0);
    } catch {
      // Closed by the stream already.
    }
  },
});
setInterval(() => undefined, 60_000);
