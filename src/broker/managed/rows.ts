/**
 * The table `managed_agents`: agents that agents made. Every statement and every parsed row in one place. Changes are
 * made only together with a journal record, and only by the run that owns it, but for what is known of the profile; the
 * key is never here.
 *
 *   provisioning (the attachment is signed) → live (the relay took it) → deleted; provisioning → deleted (it did not)
 */
import { asChannelId, asPubkey, Failure } from '../../model/index.ts';
import type { ChannelId, Pubkey } from '../../model/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Store } from '../../store/index.ts';
import type { LocalWrite } from '../journal/index.ts';

export type Mode = 'owner-only' | 'anyone';

/** What an agent that was made is to be; `runtime` is absent for what its maker runs on. */
export interface ManagedSettings {
  readonly displayName: string;
  readonly systemPrompt: string;
  readonly runtime?: string;
  readonly respondTo: Mode;
}

export interface ManagedRecord extends ManagedSettings {
  readonly pubkey: Pubkey;
  /** The agent that asked for it, and owns it. */
  readonly requester: Pubkey;
  readonly channelId: ChannelId;
  readonly status: 'provisioning' | 'live' | 'deleted';
  /** Its profile is not known to bear the name that it has now. */
  readonly renamed: boolean;
}

export interface ManagedRows {
  /** Every record of the community, in the order they were made. Throws `Failure`. */
  all(): Promise<readonly ManagedRecord[]>;
  /** The profile of the agent bears that name. Throws `Failure`. */
  introduced(pubkey: Pubkey, displayName: string): Promise<void>;
}

export function openManagedRows(store: Pick<Store, 'read' | 'write'>, community: string): ManagedRows {
  return {
    async all() {
      const text = 'SELECT * FROM managed_agents WHERE community = ? ORDER BY created_at_ms, pubkey';
      return (await store.read(sql(text, community))).map(recordOf);
    },
    async introduced(pubkey, displayName) {
      await store.write(sql('UPDATE managed_agents SET renamed = 0 WHERE pubkey = ? AND display_name = ?', pubkey, displayName));
    },
  };
}

export interface NewRecord extends Omit<ManagedRecord, 'status' | 'renamed'> {
  readonly community: string;
  readonly createdAtMs: number;
}

export function insertProvisioning(made: NewRecord): LocalWrite {
  const { pubkey, community, requester, channelId, displayName, systemPrompt, runtime = null, respondTo, createdAtMs } = made;
  return (ours) => sql(
    `INSERT INTO managed_agents
      (pubkey, community, requester, channel, display_name, system_prompt, runtime, respond_to, status, created_at_ms)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, 'provisioning', ? WHERE ${ours.text}`,
    pubkey, community, requester, channelId, displayName, systemPrompt, runtime, respondTo, createdAtMs, ...ours.params,
  );
}

export function makeLive(pubkey: Pubkey): LocalWrite {
  const text = "UPDATE managed_agents SET status = 'live' WHERE pubkey = ? AND status = 'provisioning'";
  return (ours) => sql(`${text} AND ${ours.text}`, pubkey, ...ours.params);
}

export function patchSettings(pubkey: Pubkey, settings: ManagedSettings): LocalWrite {
  const { displayName, systemPrompt, runtime = null, respondTo } = settings;
  return (ours) => sql(
    `UPDATE managed_agents SET renamed = renamed OR display_name <> ?, display_name = ?, system_prompt = ?, runtime = ?, respond_to = ?
      WHERE pubkey = ? AND status = 'live' AND ${ours.text}`,
    displayName, displayName, systemPrompt, runtime, respondTo, pubkey, ...ours.params,
  );
}

/** The name stays, for whoever asks later who it was; the prompt does not. */
export function markDeleted(pubkey: Pubkey): LocalWrite {
  const text = "UPDATE managed_agents SET status = 'deleted', system_prompt = '' WHERE pubkey = ?";
  return (ours) => sql(`${text} AND ${ours.text}`, pubkey, ...ours.params);
}

function recordOf(row: Row): ManagedRecord {
  const pubkey = asPubkey(textOf(row, 'pubkey'));
  const requester = asPubkey(textOf(row, 'requester'));
  const channelId = asChannelId(textOf(row, 'channel'));
  const runtime = row['runtime'];
  const [respondTo, status] = [row['respond_to'], row['status']];
  if (pubkey === undefined || requester === undefined || channelId === undefined) return corrupt('an id');
  if (respondTo !== 'owner-only' && respondTo !== 'anyone') return corrupt('respond_to');
  if (status !== 'provisioning' && status !== 'live' && status !== 'deleted') return corrupt('status');
  return {
    pubkey, requester, channelId, respondTo, status,
    displayName: textOf(row, 'display_name'),
    systemPrompt: textOf(row, 'system_prompt'),
    renamed: row['renamed'] === 1,
    ...(typeof runtime === 'string' ? { runtime } : {}),
  };
}

function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : corrupt(column);
}

function corrupt(column: string): never {
  throw new Failure('storage_corrupt', `managed_agents: ${column} holds what skep did not write`);
}
