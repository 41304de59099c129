/**
 * The broker dies at every commit of a creation, before it and after it; another starts on the same files, and the
 * identical request comes again. One agent or none, never two; never a failure that is none; no key without an agent.
 */
import { expect, it } from 'vitest';
import { mortalAt } from '../fake-store.ts';
import { told } from '../harness.ts';
import { AGENT, OWNER } from '../people.ts';
import { CREATE, openManagedBox, until } from './box.ts';

/** What the statement of each commit can be known by. */
const COMMITS = { claim: 'INSERT INTO journal\n', evidence: "SET status = 'signed'", result: "SET status = 'done'" } as const;

it.each([
  ['claim', 'before', 'succeeded', 1],
  ['claim', 'after', 'failed/internal, replayed', 0],
  ['evidence', 'before', 'failed/internal, replayed', 0],
  ['evidence', 'after', 'succeeded', 1],
  ['result', 'before', 'succeeded', 1],
  ['result', 'after', 'succeeded', 1],
] as const)('dies at the %s, %s it: %s', async (commit, when, end, agents) => {
  let dead: { readonly died: Promise<void>; readonly bury: () => void } | undefined;
  const made = await openManagedBox({}, 'admin', (store) => {
    const dying = mortalAt(store, COMMITS[commit], when);
    dead = dying;
    return dying;
  });
  void made.box.act('r-1', 'agents.create', CREATE).catch(() => undefined);
  await dead?.died;
  await made.box.restart();
  const answer = await made.box.act('r-1', 'agents.create', CREATE);
  // Pursuit may have been quicker than the retry.
  expect(told(answer).replace('succeeded, replayed', 'succeeded')).toBe(end);
  const others = (await made.members()).filter((each) => each !== AGENT.pubkey && each !== OWNER.pubkey);
  expect(others).toEqual(agents === 1 ? [answer.result.outcome?.['agentPubkey']] : []);
  await until(() => made.changes.length === agents);
  dead?.bury();
  expect(made.keys()).toEqual(others.map((agent) => `${agent}.key`));
});
