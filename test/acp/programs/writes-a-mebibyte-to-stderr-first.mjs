import { writeSync } from 'node:fs';
import { serve } from './speaks-acp.mjs';

// Synchronous: an unread pipe would stop the program here, at 64 KiB.
for (let line = 0; line < 16_384; line += 1) {
  let rest = Buffer.from(`line ${String(line).padStart(5, '0')} ${'x'.repeat(51)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
serve({ onPrompt: () => process.exit(3) });
