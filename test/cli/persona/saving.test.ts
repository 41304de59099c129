/** Every end that a save can have, as it is told: the line, the JSON, the failure. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { saveShown } from '../../../src/cli/persona/saving.ts';
import type { Standing, Target } from '../../../src/cli/persona/subject.ts';
import { eventId, Failure, refuse, seconds } from '../../../src/model/index.ts';
import { versionTemplate } from '../../../src/persona/index.ts';
import type { SaveOutcome } from '../../../src/persona/index.ts';
import { agent } from '../../persona/people.ts';
import { signed } from '../../persona/world.ts';

const [OURS, THEIRS] = ['a', 'b'].map((digit) => eventId(digit.repeat(64)));
const NOTHING: Standing = { source: 'none', version: undefined, text: '', fault: undefined };

function spied(stream: NodeJS.WriteStream): () => string {
  const said: string[] = [];
  const spy = vi.spyOn(stream, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  onTestFinished(() => { spy.mockRestore(); });
  return () => said.join('');
}

async function told(outcome: SaveOutcome, json = false): Promise<{ readonly out: string; readonly err: string; readonly failure: string | undefined }> {
  const [out, err] = [spied(process.stdout), spied(process.stderr)];
  const target: Target = { subject: { type: 'agent', agent }, name: 'bee', title: 'agent bee', overrides: [], standing: async () => NOTHING, save: async () => outcome };
  const failure = await saveShown(target, NOTHING, 'text', 'none', { yes: true, json }).then(() => undefined, (error: unknown) => (error instanceof Failure ? `${error.code}: ${error.message}` : expect.fail(String(error))));
  return { out: out(), err: err(), failure };
}

const SENT = signed(versionTemplate({ type: 'agent', agent }, 'x', seconds(1)));
const CURRENT = { status: 'current', id: OURS ?? eventId('a'.repeat(64)), earlier: 'none' } as const;

it.each<[string, SaveOutcome, string, string, string | undefined]>([
  ['current', CURRENT, 'saved: version aaaaaaaa of agent bee is current, 4 bytes; an agent has it from its next start\n', '', undefined],
  ['kept', { ...CURRENT, earlier: 'kept' }, 'kept as the first version: the text of until now\nsaved: ', '', undefined],
  ['unfit', { ...CURRENT, earlier: 'unfit' }, 'saved: ', 'skep: the text of until now is not in the history: no version can hold it\n', undefined],
  ['over', { ...CURRENT, over: THEIRS ?? CURRENT.id }, 'saved: ', 'skep: version bbbbbbbb of agent bee, saved elsewhere at the same moment, was not seen and stands behind it', undefined],
  ['superseded', { ...CURRENT, status: 'superseded', by: THEIRS ?? CURRENT.id }, '', '', 'partly_done: version aaaaaaaa of agent bee is stored and in the history, and bbbbbbbb, saved elsewhere, is current'],
  ['stored', { ...CURRENT, status: 'stored' }, '', '', 'partly_done: the relay took version aaaaaaaa of agent bee; whether it is current could not be read'],
  ['unknown', { status: 'unknown', event: SENT, detail: 'no OK' }, '', '', `unanswered: the relay gave no verdict on version ${SENT.id.slice(0, 8)} of agent bee: see skep instructions history; no OK`],
  ['unseen', { status: 'failed', refusal: refuse('unseen', 'version: expected none as the current one, found x') }, '', '', 'not_changed: nothing was saved: another version is current than the one that was seen; version: expected none as the current one, found x; look at it with skep instructions diff, or save over it with --over'],
  ['deleted', { status: 'failed', refusal: refuse('deleted', 'team: expected one that is not deleted') }, '', '', 'not_changed: team: expected one that is not deleted'],
  ['rejected', { status: 'failed', refusal: refuse('rejected', 'blocked: x') }, '', '', 'relay: blocked: x'],
  ['unavailable', { status: 'failed', refusal: refuse('unavailable', 'relay: expected an answer') }, '', '', 'relay: relay: expected an answer'],
  ['text', { status: 'failed', refusal: refuse('text', 'text: expected no U+0000') }, '', '', 'refused_input: text: expected no U+0000'],
])('%s', async (_, outcome, out, err, failure) => {
  const people = await told(outcome);
  expect(people.failure).toBe(failure);
  expect(people.out).toContain(out);
  expect(people.err).toContain(err);
  if (failure !== undefined) expect(people.out).toBe('');
});

it('a script is told also what is stored and not current, beside the failure', async () => {
  const { out, failure } = await told({ ...CURRENT, status: 'superseded', by: THEIRS ?? CURRENT.id }, true);
  expect(JSON.parse(out)).toMatchObject({ status: 'superseded', subject: 'agent', id: agent, name: 'bee', version: OURS, by: THEIRS, over: null, bytes: 4 });
  expect(failure).toMatch(/^partly_done: /);
});
