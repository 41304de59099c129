/** The orders of `skep owner` as programs: what it prints, its exit codes, and what it says to bad input. */
import { afterEach, expect, it } from 'vitest';
import { stopAll } from '../cli/skep.ts';
import { agentPubkey, answering, CHANNEL, openBox } from './box.ts';

afterEach(stopAll);

const PATIENCE_MS = 300_000;

it('pending shows what waits, approve decides it', async () => {
  const { agent, skep } = await openBox();
  const card = await agent.card(CHANNEL, { description: 'Run \u{1b}[2J\u{202e}ls', labels: ['Allow\u{9b}31m', 'Deny'] });
  const [people, script] = await Promise.all([skep('pending'), skep('pending', '--json')]);
  const short = card.nonce.slice(0, 8);
  expect(people).toEqual({
    code: 0, stderr: '', stdout: expect.stringMatching(new RegExp(`^${short}  npub1\\w{7} in 00000000, \\d+ s left: Run \\\\u\\{1b\\}\\[2J\\\\u\\{202e\\}ls\n {10}approve: "Allow\\\\u\\{9b\\}31m", deny: "Deny"\n$`)),
  });
  expect(script.stdout).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
  expect(JSON.parse(script.stdout)).toMatchObject({
    nonce: card.nonce, agent: agentPubkey, channelId: CHANNEL, turnId: 't-1', sessionId: 's-1', cardId: card.event.id,
    description: 'Run \u{1b}[2J\u{202e}ls', options: [{ optionId: 'yes-1', label: 'Allow\u{9b}31m' }, { optionId: 'no-1', label: 'Deny' }],
  });
  answering(agent, card);
  const approved = await skep('approve', short);
  expect(approved).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(new RegExp(`^approved ${short} of npub1\\w{7}: the agent has taken it\n$`)) });
  expect(await skep('pending')).toEqual({ code: 0, stdout: 'nothing waits\n', stderr: '' });
}, PATIENCE_MS);

it('an order is told with its status, and as JSON', async () => {
  const { agent, skep } = await openBox();
  agent.onControl = ({ type, modelId, requestId }) => void agent.tell({ kind: 'control_result', channelId: CHANNEL, payload: { type, status: type === 'cancel_turn' ? 'sent' : 'switched', modelId, requestId } });
  expect(await skep('cancel', CHANNEL)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^npub1\w{7} in 00000000: cancel_turn sent\n$/) });
  const model = await skep('model', CHANNEL, 'opus', '--json');
  expect(JSON.parse(model.stdout)).toMatchObject({ type: 'switch_model', modelId: 'opus', channelId: CHANNEL, agent: agentPubkey, status: 'switched' });
}, PATIENCE_MS);

it('nothing to act on is exit code 13, no answer is 14, each with one line', async () => {
  const { agent, skep } = await openBox();
  const card = await agent.card(CHANNEL);
  const [none, silent] = await Promise.all([skep('approve', 'abcdef'), skep('deny', card.nonce, '--wait', '1ms')]);
  expect(none).toEqual({ code: 13, stdout: '', stderr: 'skep: no permission request waits under that nonce; skep owner pending lists what waits\n' });
  expect(silent).toEqual({ code: 14, stdout: '', stderr: 'skep: the agent did not answer in time; the decision may still arrive\n' });
}, PATIENCE_MS);

it('says in one line that the relay is away, and nothing of its attempts', async () => {
  const { relay, skep } = await openBox();
  await relay.close();
  for (const { code, stdout, stderr } of await Promise.all([skep('pending', '--json'), skep('cancel', CHANNEL)])) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^skep: [^\n]+\n$/);
  }
}, PATIENCE_MS);

const HEX_KEY = '5'.repeat(64);

it('bad input is one line and exit code 2, and no secret is repeated', async () => {
  const { skep } = await openBox();
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['approve', 'abc'], /expected at least 4 characters of a nonce/],
    [['cancel', 'general'], /expected the whole id of a channel, a UUID, as skep owner watch --json tells it/],
    [['model', CHANNEL], /missing required argument 'id'/],
    [['approve', 'abcd', '--wait', '0s'], /expected a duration like 10s, at most 5m/],
    [['pending', '--agent', 'nobody'], /^skep: --agent: expected an npub or 64 hex characters/],
    [['pending', '--key', 'missing.key'], /^skep: --key: found missing.key, which does not exist/],
    [['pending', '--key', 'nsec1qqqqqqqqqq'], /^skep: --key: expected a file, found a secret/],
    [['pending', '--key', HEX_KEY], /^skep: --key: expected a file, found a secret/],
    [['pending', '--relay', 'http://x'], /^skep: relay URL: expected ws:/],
    [['cancel', CHANNEL, '--agent', agentPubkey, '--agent', 'npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6'], /^skep: --agent: expected the one agent that this is for; there are npub1\S+, npub1\S+$/m],
  ];
  for (const [args, line] of cases) {
    const { code, stdout, stderr } = await skep(...args);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd()).not.toContain('\n');
    for (const secret of ['nsec1', HEX_KEY]) expect(stderr).not.toContain(secret);
  }
}, PATIENCE_MS);
