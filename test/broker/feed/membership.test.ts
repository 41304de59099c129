/** Which channels an agent is in: the table of the reducer, and that the order of the evidence does not matter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GATHERING, step } from '../../../src/broker/feed/membership.ts';
import type { Membership, MembershipCommand, MembershipInput } from '../../../src/broker/feed/membership.ts';
import { channelId, seconds } from '../../../src/model/index.ts';

const A = channelId('11111111-1111-4111-8111-111111111111');
type Evidence = Exclude<MembershipInput, { readonly type: 'complete' }>;
const told = (type: Evidence['type'], at: number, stored = false, channel = A): Evidence => ({ type, channelId: channel, atSec: seconds(at), stored });
const complete: MembershipInput = { type: 'complete' };

function run(inputs: readonly MembershipInput[], from: Membership = GATHERING): { readonly state: Membership; readonly commands: readonly MembershipCommand[] } {
  let state = from;
  const commands: MembershipCommand[] = [];
  for (const input of inputs) {
    const next = step(state, input);
    state = next.state;
    commands.push(...next.commands);
  }
  return { state, commands };
}

const deciding = run([complete]).state;
const follow = (joinedSec: number | undefined, first = false): MembershipCommand =>
  ({ type: 'follow', channelId: A, joinedSec: joinedSec === undefined ? undefined : seconds(joinedSec), first });
const leave: MembershipCommand = { type: 'leave', channelId: A };

describe('membership', () => {
  it.each<readonly [string, readonly MembershipInput[], readonly MembershipCommand[]]>([
    ['decides nothing while gathering', [told('listed', 1), told('added', 2), told('removed', 3)], []],
    ['follows what is listed', [told('listed', 1, true), complete], [follow(undefined, true)]],
    ['knows the joining from the notice', [told('listed', 5, true), told('added', 4, true), complete], [follow(4, true)]],
    ['does not follow what was left since', [told('listed', 1, true), told('removed', 2, true), complete], [leave]],
    ['does not follow what is archived', [told('archived', 2, true), told('listed', 1, true), complete], [leave]],
    ['follows what is open', [told('open', 2, true), told('listed', 1, true), complete], [follow(undefined, true)]],
    ['decides nothing on a name alone', [told('archived', 2, true), told('open', 3, true), complete], []],
    ['completes once', [told('listed', 1, true), complete, complete], [follow(undefined, true)]],
  ])('%s', (_name, inputs, commands) => {
    expect(run(inputs).commands).toEqual(commands);
  });

  it.each<readonly [string, readonly MembershipInput[], readonly MembershipCommand[]]>([
    ['joins on a notice', [told('added', 5)], [follow(5)]],
    ['joins on a list', [told('listed', 5)], [follow(5)]],
    ['joins on a stored list, not knowing when', [told('listed', 5, true)], [follow(undefined)]],
    ['joins once', [told('added', 5), told('listed', 6), told('added', 5)], [follow(5)]],
    ['leaves on a newer notice', [told('added', 5), told('removed', 6)], [follow(5), leave]],
    ['leaves on a newer list', [told('added', 5), told('unlisted', 6)], [follow(5), leave]],
    ['stays on an older no', [told('added', 5), told('removed', 4), told('unlisted', 5)], [follow(5)]],
    ['is not fooled by an older yes', [told('removed', 6), told('added', 5)], [leave, leave]],
    ['leaves what is archived', [told('added', 5), told('archived', 6)], [follow(5), leave]],
    ['leaves what was archived before it joined', [told('archived', 4), told('added', 5)], [leave]],
    ['stays in what is open', [told('added', 5), told('open', 6), told('open', 7)], [follow(5)]],
    ['follows again what is opened again, from there', [told('added', 5), told('archived', 6), told('open', 9)], [follow(5), leave, follow(9)]],
    ['is not fooled by an older word that it is archived', [told('added', 5), told('open', 7), told('archived', 6)], [follow(5)]],
    ['stays out of what is opened again without us', [told('added', 5), told('archived', 6), told('removed', 7), told('open', 9)], [follow(5), leave, leave, leave]],
    ['joins again', [told('added', 5), told('removed', 6), told('added', 7)], [follow(5), leave, follow(7)]],
    ['forgets a joining that was undone', [told('added', 5), told('removed', 6), told('listed', 9, true)], [follow(5), leave, follow(undefined)]],
  ])('%s', (_name, inputs, commands) => {
    expect(run(inputs, deciding).commands).toEqual(commands);
  });

  it('comes to one answer whatever the order', () => {
    const type = fc.constantFrom<Evidence['type']>('listed', 'unlisted', 'added', 'removed', 'archived', 'open');
    const evidence = fc.tuple(type, fc.nat(6)).map(([kind, at]) => told(kind, at, true));
    fc.assert(fc.property(fc.array(evidence, { minLength: 1, maxLength: 8 }), fc.func(fc.double({ noNaN: true })), (inputs, key) => {
      const shuffled = inputs.map((input, index) => ({ input, at: key(index) })).sort((a, b) => a.at - b.at).map(({ input }) => input);
      const answers = [run([...inputs, complete]), run(shuffled, deciding), run([...shuffled, complete])];
      expect(new Set(answers.map(({ state }) => state.followed.has(A))).size).toBe(1);
    }));
  });

  it('bounds what it follows and what it knows, and says so', () => {
    const nth = (index: number): ReturnType<typeof channelId> => channelId(`${index.toString(16).padStart(8, '0')}-1111-4111-8111-111111111111`);
    const { state, commands } = run([...Array.from({ length: 5_000 }, (_, index) => told('added', 1, false, nth(index))), complete]);
    expect([state.followed.size, state.known.size]).toEqual([1_000, 4_000]);
    expect(commands.filter(({ type }) => type === 'too-many')).toHaveLength(4_000);
    expect(commands.filter(({ type }) => type === 'follow')).toHaveLength(1_000);
  }, 60_000);
});
