/**
 * Who of the managed agents runs: compares the records with what was told before, and tells the difference, one change
 * at a time. Credentials of an agent whose record is gone end before anything else; its program, its connection and its
 * key follow. Looking again is always right: at a start, after a commit, after one of which nobody knows.
 */
import { Failure, unreachable } from '../../model/index.ts';
import type { Log, Pubkey } from '../../model/index.ts';
import type { Tag } from '../../nostr/index.ts';
import type { AgentIdentity, ManagedAgent, ManagedChange, ManagedConsumer } from '../ports.ts';
import type { KeyFiles } from './key-files.ts';
import { lineagesOf } from './lineage.ts';
import type { Configured, Lineages } from './lineage.ts';
import type { ManagedRecord, ManagedRows } from './rows.ts';

export interface Roster {
  /** Takes up what the last run left. Throws `Failure`. */
  begin(): Promise<void>;
  /** Something may have changed. Never rejects. */
  look(): void;
  /** That agent will run in a moment: before `begin` any of them may. */
  expects(pubkey: Pubkey): boolean;
  /** Told of every agent that runs, and of every change from here on. One consumer. */
  follow(consumer: ManagedConsumer): void;
  /** Tells nothing more; resolves when the change in hand is done. */
  close(): Promise<void>;
}

export interface RosterOptions {
  readonly rows: ManagedRows;
  readonly keyFiles: KeyFiles;
  readonly configured: readonly Configured[];
  readonly log: Log;
  /** The owner's word that the agent is theirs (NIP-OA). */
  readonly attest: (owner: Pubkey, agent: Pubkey) => Tag;
  readonly connect: (identity: AgentIdentity) => Promise<void>;
  /** From here on nothing it asks for is done, or told. */
  readonly revoke: (pubkey: Pubkey) => void;
  readonly disconnect: (pubkey: Pubkey) => Promise<void>;
  /** Sees to its profile, as well as may be; true when it is as it should be. `renamed`: the name there is an old one. */
  readonly introduce: (agent: ManagedAgent, attestation: Tag, renamed: boolean) => Promise<boolean>;
}

export function openRoster(options: RosterOptions): Roster {
  return new TellingRoster(options);
}

class TellingRoster implements Roster {
  readonly #options: RosterOptions;
  /** As they were told, or are about to be. */
  #told: ReadonlyMap<Pubkey, ManagedAgent> = new Map();
  #begun = false;
  /** What is told in a moment, or is being told. */
  readonly #coming = new Set<ManagedChange>();
  readonly #tidied = new Set<Pubkey>();
  readonly #consumer: Promise<ManagedConsumer | undefined>;
  #follow: (consumer: ManagedConsumer | undefined) => void = () => undefined;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: RosterOptions) {
    this.#options = options;
    this.#consumer = new Promise((resolve) => { this.#follow = resolve; });
  }

  async begin(): Promise<void> {
    const { rows, keyFiles } = this.#options;
    const records = await rows.all();
    const recorded = new Set(records.filter(({ status }) => status !== 'deleted').map(({ pubkey }) => pubkey));
    for (const pubkey of keyFiles.unrecorded()) if (!recorded.has(pubkey)) keyFiles.discard(pubkey);
    this.#compare(records);
    this.#begun = true;
  }

  expects(pubkey: Pubkey): boolean {
    return !this.#begun || [...this.#coming].some((change) => change.type === 'live' && change.agent.pubkey === pubkey);
  }

  look(): void {
    if (this.#closed) return;
    this.#options.rows.all().then((records) => { this.#compare(records); }).catch((error: unknown) => { this.#failed(error); });
  }

  follow(consumer: ManagedConsumer): void {
    this.#follow(consumer);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#follow(undefined);
    await this.#work;
  }

  #compare(records: readonly ManagedRecord[]): void {
    const before = this.#told;
    const after = runningOf(this.#options.configured, records);
    this.#told = after;
    for (const pubkey of before.keys()) if (!after.has(pubkey)) this.#options.revoke(pubkey);
    const renamed = new Set(records.filter((record) => record.renamed).map(({ pubkey }) => pubkey));
    for (const change of changesOf(before, after)) {
      this.#coming.add(change);
      this.#then(() => this.#perform(change, renamed).finally(() => { this.#coming.delete(change); }));
    }
    const deleted = records.filter(({ status, pubkey }) => status === 'deleted' && !this.#tidied.has(pubkey));
    for (const { pubkey } of deleted) {
      this.#tidied.add(pubkey);
      // After what was told of it: until then its connection may need the key.
      this.#then(async () => { this.#options.keyFiles.remove(pubkey); });
    }
    const lost = records.filter(({ pubkey, status }) => status === 'live' && !after.has(pubkey));
    if (lost.length > 0) this.#options.log.warn('managed agents without a configured agent above them do not run', { agents: lost.length });
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (!this.#closed) await work();
    }).catch((error: unknown) => { this.#failed(error); });
  }

  async #perform(change: ManagedChange, renamed: ReadonlySet<Pubkey>): Promise<void> {
    const { connect, disconnect, attest, keyFiles, configured, log } = this.#options;
    switch (change.type) {
      case 'live': {
        const { agent } = change;
        const secretKey = keyFiles.read(agent.pubkey);
        if (secretKey === undefined) {
          log.error('a managed agent has no key and does not run', { agent: agent.pubkey });
          return;
        }
        const attestation = attest(agent.owner, agent.pubkey);
        const channels = configured.find(({ pubkey }) => pubkey === agent.root)?.channels;
        await connect({
          name: agent.displayName, pubkey: agent.pubkey, secretKey, owner: agent.owner, attestation, subscribe: 'mentions',
          ...(channels === undefined ? {} : { channels }),
        });
        secretKey.fill(0);
        this.#introduce(agent, attestation, renamed.has(agent.pubkey));
        return this.#tell(change);
      }
      case 'changed': {
        const { agent } = change;
        if (renamed.has(agent.pubkey)) this.#introduce(agent, attest(agent.owner, agent.pubkey), true);
        return this.#tell(change);
      }
      case 'gone':
        await this.#tell(change);
        return disconnect(change.pubkey);
      default:
        return unreachable(change);
    }
  }

  /** Nobody waits for it. What is left undone is done at the next start, or with the next change. */
  #introduce(agent: ManagedAgent, attestation: Tag, renamed: boolean): void {
    const { introduce, rows } = this.#options;
    introduce(agent, attestation, renamed).then(async (isDone) => {
      if (isDone && renamed && !this.#closed) await rows.introduced(agent.pubkey, agent.displayName);
    }).catch((error: unknown) => { this.#failed(error); });
  }

  async #tell(change: ManagedChange): Promise<void> {
    const consumer = await this.#consumer;
    await consumer?.(change);
  }

  #failed(error: unknown): void {
    const detail = error instanceof Failure ? { code: error.code, detail: error.message } : { error };
    this.#options.log.error('a change of the managed agents could not be carried out', detail);
  }
}

/** What has to be told so that who knew `before` knows `after`. Another program is another start. */
function changesOf(before: ReadonlyMap<Pubkey, ManagedAgent>, after: ReadonlyMap<Pubkey, ManagedAgent>): readonly ManagedChange[] {
  const gone = [...before.keys()].filter((pubkey) => !after.has(pubkey));
  const changes: ManagedChange[] = gone.map((pubkey) => ({ type: 'gone', pubkey, restarts: false }));
  for (const agent of after.values()) {
    const known = before.get(agent.pubkey);
    const restarts = known !== undefined && known.runtime !== agent.runtime;
    if (restarts) changes.push({ type: 'gone', pubkey: agent.pubkey, restarts: true });
    if (known === undefined || restarts) changes.push({ type: 'live', agent });
    else if (!same(known, agent)) changes.push({ type: 'changed', agent });
  }
  return changes;
}

function same(one: ManagedAgent, other: ManagedAgent): boolean {
  return one.displayName === other.displayName && one.systemPrompt === other.systemPrompt && one.respondTo === other.respondTo;
}

function runningOf(configured: readonly Configured[], records: readonly ManagedRecord[]): ReadonlyMap<Pubkey, ManagedAgent> {
  const lineages = lineagesOf(configured, records);
  const own = new Set(configured.map(({ pubkey }) => pubkey));
  const running = new Map<Pubkey, ManagedAgent>();
  for (const record of records) {
    // An operator who configures an agent by its key has taken it over.
    const agent = record.status === 'live' && !own.has(record.pubkey) ? managedAgent(record, lineages) : undefined;
    if (agent !== undefined) running.set(agent.pubkey, agent);
  }
  return running;
}

function managedAgent(record: ManagedRecord, lineages: Lineages): ManagedAgent | undefined {
  const lineage = lineages(record.pubkey);
  if (lineage === undefined) return undefined;
  const { pubkey, requester, displayName, systemPrompt, respondTo, runtime } = record;
  return {
    pubkey, owner: requester, owners: lineage.owners, root: lineage.root.pubkey, displayName, systemPrompt, respondTo,
    ...(runtime === undefined ? {} : { runtime }),
  };
}
