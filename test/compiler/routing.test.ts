import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTurn, turnRoute } from '../../compiler/index.ts';
import type { Channel, Profiles, TurnInput } from '../../compiler/index.ts';
import { hostileTurn } from './hostile.ts';
import { CHANNEL_ID, idOf, MORGAN, PARENT, ROOT, SAM, SKEP, tagged, triggeredOf, turnOf } from './turns.ts';

const stream: Channel = { name: 'engineering', type: 'stream' };
const dm: Channel = { name: 'Morgan', type: 'dm' };
const agents: Profiles = { [MORGAN]: { isAgent: true }, [SKEP]: { isAgent: true } };
const inThread = [
  ['e', ROOT, '', 'root'],
  ['e', PARENT, '', 'reply'],
];

/** The delivery line of a turn. */
function deliveryOf(change: Partial<TurnInput>): string {
  return compileTurn(turnOf(change)).envelope.split('\n').at(-2) ?? '';
}

function line(rest: string): string {
  return `<delivery channel_id="${CHANNEL_ID}" ${rest} />`;
}

describe('scope and reply anchor', () => {
  test.each<[string, Partial<TurnInput>, string]>([
    ['top level: its own id', {}, `scope="channel" reply_to="${idOf(1)}"`],
    ['thread: the root', { events: tagged(...inThread) }, `scope="thread" reply_to="${ROOT}"`],
    ['a stream is no DM', { channel: stream }, `scope="channel" reply_to="${idOf(1)}"`],
    ['another word is no DM', { channel: { name: 'x', type: 'DM' } }, `scope="channel" reply_to="${idOf(1)}"`],
    ['DM, top level: none', { channel: dm }, 'scope="dm"'],
    [
      'DM, in a thread: the last event',
      { channel: dm, events: tagged(...inThread) },
      `scope="dm" reply_to="${idOf(1)}"`,
    ],
    [
      'DM between agents: as any DM',
      { channel: dm, profiles: agents, events: tagged(...inThread) },
      `scope="dm" reply_to="${idOf(1)}"`,
    ],
    ['agent, no mention: none', { profiles: agents }, 'scope="channel"'],
    ['agent, mentions an agent: none', { profiles: agents, events: tagged(['p', SKEP]) }, 'scope="channel"'],
    [
      'agent, mentions an agent in upper case: none',
      { profiles: agents, events: tagged(['p', SKEP.toUpperCase()]) },
      'scope="channel"',
    ],
    ['agent in a thread: none', { profiles: agents, events: tagged(...inThread, ['p', SKEP]) }, 'scope="thread"'],
    [
      'agent, mentions a stranger: a person',
      { profiles: agents, events: tagged(['p', SKEP], ['p', SAM]) },
      `scope="channel" reply_to="${idOf(1)}"`,
    ],
    [
      'agent, mentions what is no pubkey: a person',
      { profiles: agents, events: tagged(['p', 'constructor']) },
      `scope="channel" reply_to="${idOf(1)}"`,
    ],
    [
      'agent, mentions a person in a thread',
      { profiles: agents, events: tagged(...inThread, ['p', SAM]) },
      `scope="thread" reply_to="${ROOT}"`,
    ],
    [
      'known and no agent: a person',
      { profiles: { [MORGAN]: { isAgent: false } } },
      `scope="channel" reply_to="${idOf(1)}"`,
    ],
    [
      'known, agent or not unsaid: a person',
      { profiles: { [MORGAN]: { displayName: 'M' } } },
      `scope="channel" reply_to="${idOf(1)}"`,
    ],
    [
      'interrupt',
      { interrupted: { mode: 'interrupt', events: [triggeredOf()] } },
      `scope="channel" reply_to="${idOf(1)}" merge_disposition="supersede_prior_work"`,
    ],
    [
      'steer',
      { interrupted: { mode: 'steer', events: [triggeredOf()] } },
      `scope="channel" reply_to="${idOf(1)}" merge_disposition="continue_prior_work"`,
    ],
  ])('%s', (_, change, expected) => {
    expect(deliveryOf(change)).toBe(line(expected));
  });

  test('the last event of the batch decides', () => {
    const top = triggeredOf({ id: idOf(7) });
    const deep = triggeredOf({ id: idOf(8), tags: inThread });
    expect(deliveryOf({ events: [deep, top] })).toBe(line(`scope="channel" reply_to="${idOf(7)}"`));
    expect(deliveryOf({ events: [top, deep] })).toBe(line(`scope="thread" reply_to="${ROOT}"`));
    const fromAgent = triggeredOf({ id: idOf(9), pubkey: SKEP });
    expect(deliveryOf({ events: [top, fromAgent], profiles: agents })).toBe(line('scope="channel"'));
  });
});

test('the route told to a caller is the one the envelope tells', () => {
  fc.assert(
    fc.property(hostileTurn, (input) => {
      const { scope, rootEventId, replyTo } = turnRoute(input);
      const { envelope } = compileTurn(input);
      const told = envelope.split('\n').at(-2) ?? '';
      const anchor = replyTo === undefined ? '' : ` reply_to="${replyTo}"`;
      expect(told).toContain(` channel_id="${CHANNEL_ID}" scope="${scope}"${anchor} `);
      expect(rootEventId !== undefined).toBe(scope === 'thread');
    }),
    { numRuns: 300 },
  );
});

test('a turn without events is a bug of the caller', () => {
  expect(() => compileTurn(turnOf({ events: [] }))).toThrow(TypeError);
});
