/** Which agents have had their initial prompt, for those that get it once ever: the only SQL of its table. */
import type { Milliseconds, Pubkey } from '../../model/index.ts';
import { sql } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';

export async function hadInitialPrompt(store: Pick<Store, 'read'>, agent: Pubkey): Promise<boolean> {
  const rows = await store.read(sql('SELECT 1 AS found FROM initial_prompts WHERE agent = ?', agent));
  return rows.length > 0;
}

/** Durable before the prompt is sent: it may be lost with a crash, and is never given twice. */
export async function claimInitialPrompt(store: Pick<Store, 'write'>, agent: Pubkey, atMs: Milliseconds): Promise<void> {
  await store.write(sql('INSERT OR IGNORE INTO initial_prompts (agent, at_ms) VALUES (?, ?)', agent, atMs));
}
