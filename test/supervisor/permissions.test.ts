/** The owner's decisions on their way to the process that waits, and what is told where nobody watches. */
import { describe, expect, it } from 'vitest';
import type { PermissionAnswer, PermissionDesk } from '../../src/acp/index.ts';
import { milliseconds, seconds } from '../../src/model/index.ts';
import { Permissions } from '../../src/supervisor/permissions.ts';
import { fakeLink } from './fake-link.ts';
import type { FakeLink } from './fake-link.ts';
import { HandClock } from './hand-clock.ts';
import { agent, channel, entryOf, friend, message, owner } from './people.ts';
import type { Person } from './people.ts';

const DOORS = { suspendIdle: () => undefined, resumeIdle: () => undefined, poison: () => undefined };
const OPTIONS = [{ optionId: 'yes', kind: 'allow_once', name: 'Yes' }, { optionId: 'no', kind: 'reject_once', name: 'No' }];

interface Set {
  readonly link: FakeLink;
  readonly permissions: Permissions;
  readonly desks: readonly PermissionDesk[];
  readonly answers: { readonly id: string | number; readonly answer: PermissionAnswer }[];
  /** Asks in the turn of that process; resolves when the card is there. */
  ask(process: 0 | 1): Promise<void>;
  nonce(index: number): string;
}

function setOf({ isWatched = true, by = owner }: { readonly isWatched?: boolean; readonly by?: Person } = {}): Set {
  const link = fakeLink();
  const clock = new HandClock();
  let count = 0;
  const permissions = new Permissions({
    link, clock, steadyClock: clock, permission: { policy: 'ask', askMs: 300_000 }, gate: { owner: owner.pubkey },
    random: { bytes: (length) => new Uint8Array(length).fill(count += 1), fraction: () => 0 },
  }, isWatched ? { clean: (text) => text } : undefined);
  const answers: Set['answers'] = [];
  const desks = [permissions.desk(0)(DOORS), permissions.desk(1)(DOORS)];
  const nonce = (index: number): string => link.told.filter(({ kind }) => kind === 'acp_read')[index]?.authorization?.requestNonce ?? '';
  return {
    link, permissions, desks, answers, nonce,
    async ask(process) {
      const turnId = `turn-${process}`;
      const first = entryOf(message({ by }), 0);
      await permissions.during({ turnId, channelId: channel, lane: channel, entries: [first] }, async () => {
        desks[process]?.requested({
          id: 0, sessionId: `s${process}`, params: { title: 'Run', options: OPTIONS }, line: '{"jsonrpc":"2.0","id":0}',
          turn: { turnId, cancelling: false, hardDeadline: milliseconds(Number.MAX_SAFE_INTEGER) },
        }, (answer) => {
          answers.push({ id: process, answer });
          return Promise.resolve({ written: true, line: '{}' });
        });
        for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
      });
    },
  };
}

function decide({ permissions }: Set, requestNonce: string, sender = owner.pubkey): void {
  const frame = { eventId: message().id, sender, agent: agent.pubkey, createdAt: seconds(1), receivedAt: seconds(1), type: 'permission_decision', body: {} };
  permissions.decide(frame, { type: 'permission_decision', channelId: channel, requestNonce, optionId: 'yes' });
}

function statuses({ link }: Set): readonly unknown[] {
  return link.told.filter(({ kind }) => kind === 'control_result').map(({ payload }) => (JSON.parse(payload) as { status: unknown }).status);
}

describe('a decision', () => {
  it('finds the process that waits for it, and is told about once', async () => {
    const set = setOf();
    await set.ask(0);
    await set.ask(1);
    expect(set.link.told.map(({ agentIndex, turnId }) => [agentIndex, turnId])).toEqual([[0, 'turn-0'], [1, 'turn-1']]);
    const waiting = (): readonly number[] => ['turn-0', 'turn-1', 'turn-2'].map((turnId) => set.permissions.waitingIn(turnId));
    expect(waiting()).toEqual([1, 1, 0]);
    decide(set, set.nonce(1));
    expect(waiting()).toEqual([1, 0, 0]);
    expect(set.answers).toEqual([{ id: 1, answer: { outcome: 'selected', optionId: 'yes' } }]);
    expect(statuses(set)).toEqual(['sent']);
  });

  it('that nobody waits for is told once, and a stranger is told nothing', async () => {
    const set = setOf();
    await set.ask(0);
    decide(set, 'of another run');
    decide(set, set.nonce(0), friend.pubkey);
    decide(set, 'of another run', friend.pubkey);
    expect(statuses(set)).toEqual(['no_active_turn']);
    expect(set.answers).toEqual([]);
  });

  it('for a process that is over finds nobody', async () => {
    const set = setOf();
    await set.ask(0);
    set.desks[0]?.ended();
    decide(set, set.nonce(0));
    expect(statuses(set)).toEqual(['no_active_turn']);
  });
});

describe('nobody is asked', () => {
  it('in a turn that somebody else began', async () => {
    const set = setOf({ by: friend });
    await set.ask(0);
    expect(set.answers).toEqual([{ id: 0, answer: { outcome: 'selected', optionId: 'no' } }]);
  });

  it('where nobody watches, and nothing is told but the word on a decision', async () => {
    const set = setOf({ isWatched: false });
    await set.ask(0);
    decide(set, 'n');
    expect(set.answers).toEqual([{ id: 0, answer: { outcome: 'selected', optionId: 'no' } }]);
    expect(set.link.told.map(({ kind }) => kind)).toEqual(['control_result']);
  });
});
