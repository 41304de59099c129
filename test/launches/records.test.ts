/**
 * Launch records and the death of a supervisor: killed at every step between the start and the end of the record, on a real
 * database and the relay in the box. What a process was started for is on the relay afterwards, and was published once;
 * what none was started for is nowhere.
 */
import { hash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { MemoryDesk } from '../../src/broker/index.ts';
import { Records } from '../../src/launches/records.ts';
import { openRecordRows } from '../../src/launches/rows.ts';
import type { RecordRows } from '../../src/launches/rows.ts';
import type { Engram } from '../../src/persona/index.ts';
import { steadyClock } from '../../src/system/index.ts';
import { openBox } from '../broker/box.ts';
import { AGENT, OWNER } from '../broker/people.ts';
import { storeFile } from '../broker/temp-store.ts';
import { until } from '../broker/upstream/clock.ts';

const STEPS = ['prepare', 'prepared', 'start', 'started', 'read', 'write', 'written', 'forget', 'forgotten'] as const;
type Step = (typeof STEPS)[number];
const PLACE = { community: 'wss://relay.example', agent: AGENT.pubkey };

it.each<Step | 'never'>([...STEPS, 'never'])('killed at: %s', async (diesAt) => {
  const box = await openBox();
  const owner = await box.outside(OWNER);
  owner.send(['REQ', 'memory', { 'kinds': [30_174], '#p': [OWNER.pubkey] }]);
  await owner.next('EOSE', 'memory');
  const reopen = storeFile();
  const record: Engram = { slug: `mem/launches/${hash('sha256', diesAt, 'hex').slice(0, 32)}`, value: '{"v":1}' };

  // The first life: from its death on nothing that it does reaches the disk or the relay, and nothing comes back.
  let isDead = false;
  let die = (): void => {};
  const death = new Promise<void>((resolve) => { die = resolve; });
  const passes = (step: Step): Promise<void> => {
    if (step === diesAt) {
      isDead = true;
      die();
    }
    return isDead ? new Promise(() => {}) : Promise.resolve();
  };
  const disk = openRecordRows(reopen(), PLACE);
  const rows: RecordRows = {
    dropUnstarted: () => disk.dropUnstarted(),
    keep: async (one) => { await passes('prepare'); await disk.keep(one); await passes('prepared'); },
    started: async (slug) => { await passes('start'); await disk.started(slug); await passes('started'); },
    forget: async (slug) => { await passes('forget'); await disk.forget(slug); await passes('forgotten'); },
    all: async () => { await passes('read'); return disk.all(); },
  };
  const memory: MemoryDesk = {
    read: (slug) => box.link.memory.read(slug),
    write: async (slug, value) => {
      await passes('write');
      const written = await box.link.memory.write(slug, value);
      await passes('written');
      return written;
    },
  };
  const onFatal = (error: unknown): void => { throw error; };
  const mortal = new Records({ rows: diesAt === 'never' ? disk : rows, memory: () => memory, steadyClock, onFatal });
  const handedOver = { is: false };
  const life = async (): Promise<void> => {
    await mortal.prepare(record);
    mortal.started(record, undefined);
    handedOver.is = true;
    await until(() => isDead || mortal.pending === 0);
  };
  await Promise.race([life(), death]);
  await mortal.close();

  // The next one.
  await box.restart();
  const again = openRecordRows(reopen(), PLACE);
  const next = new Records({ rows: again, memory: () => box.link.memory, steadyClock, onFatal });
  onTestFinished(() => next.close());
  await next.open();
  await until(() => next.pending === 0);
  await until(async () => (await again.all()).length === 0);
  const stored = await box.link.memory.read(record.slug);
  // Without a process nothing was handed over; what was not committed as started never came to a prompt, which is committed after it.
  const isStarted = handedOver.is && diesAt !== 'start';
  expect(stored).toEqual({ ok: true, value: isStarted ? record.value : undefined });
  await box.link.memory.write('mem/last', 'x');
  const seen = [];
  for (let last = await owner.nextEvent('memory'); ; last = await owner.nextEvent('memory')) {
    seen.push(last.id);
    if (seen.length === (isStarted ? 2 : 1)) break;
  }
  expect(owner.receivedEvents('memory')).toEqual([]);
});
