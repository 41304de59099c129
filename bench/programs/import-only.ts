/** The floor of M1: loads what a supervisor is made of, opens nothing, and prints its resident bytes. */
import '../../src/root.ts';

globalThis.gc?.();
process.stdout.write(String(process.memoryUsage.rss()));
