import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePermission, preflight } from '../../src/permission/index.ts';
import type { PreflightCode } from '../../src/permission/index.ts';

const option = (optionId: unknown, kind: unknown, name: unknown = 'Name'): object => ({ optionId, kind, name });
const selected = (optionId: string): object => ({ outcome: 'selected', optionId });
const CANCELLED = { outcome: 'cancelled' };

const ONCE = option('yes', 'allow_once');
const ALWAYS = option('forever', 'allow_always');
const REJECT = option('no', 'reject_once');
const NEVER = option('never', 'reject_always');

/** What real agents offer for a shell command, in their own order. */
const AGENTS: readonly (readonly [string, readonly object[], string, string])[] = [
  [
    'claude',
    [option('allow-once', 'allow_once', 'Yes'), option('reject', 'reject_once', 'No')],
    'allow-once',
    'reject',
  ],
  [
    'codex',
    [
      option('allow_once', 'allow_once'),
      option('accept_execpolicy_amendment', 'allow_always'),
      option('cancel', 'reject_once'),
    ],
    'allow_once',
    'cancel',
  ],
  [
    'gemini',
    [option('proceed_always', 'allow_always'), option('proceed_once', 'allow_once'), option('cancel', 'reject_once')],
    'proceed_once',
    'cancel',
  ],
  [
    'opencode',
    [option('once', 'allow_once'), option('always', 'allow_always'), option('reject', 'reject_once')],
    'once',
    'reject',
  ],
];

describe('the reject policy', () => {
  it.each(AGENTS)('denies %s with its reject option', (_, options, _allow, reject) => {
    expect(decidePermission('reject', { options })).toEqual({
      answer: selected(reject),
      reason: 'rejected',
      detail: 'policy=reject',
    });
  });

  it.each([
    ['no reject option', [ONCE, ALWAYS], CANCELLED],
    ['reject_always alone', [ONCE, NEVER], CANCELLED],
    ['two: the first', [ALWAYS, REJECT, option('no2', 'reject_once')], selected('no')],
    ['one of unknown kind', [option('x', 'reject_this_week'), ONCE], CANCELLED],
  ])('%s', (_, options, answer) => {
    expect(decidePermission('reject', { options })).toMatchObject({ answer, reason: 'rejected' });
  });
});

describe('the allow policy', () => {
  it.each(AGENTS)('allows %s once', (_, options, allow) => {
    expect(decidePermission('allow', { options })).toEqual({ answer: selected(allow), reason: 'allowed' });
  });

  it.each([
    ['only for good', [ALWAYS, REJECT], selected('no'), 'no option of kind allow_once'],
    [
      'two ways to allow once',
      [ONCE, option('yes2', 'allow_once'), REJECT],
      selected('no'),
      'more than one option of kind allow_once',
    ],
    ['nothing but refusals', [REJECT, NEVER], selected('no'), 'no option of kind allow_once'],
    ['neither', [ALWAYS], CANCELLED, 'no option of kind allow_once'],
    [
      'a kind from the future',
      [option('x', 'allow_for_a_week'), REJECT],
      selected('no'),
      'no option of kind allow_once',
    ],
  ])('fails closed: %s', (_, options, answer, detail) => {
    expect(decidePermission('allow', { options })).toEqual({ answer, reason: 'allow_failed_closed', detail });
  });
});

describe('the preflight', () => {
  const many = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => option(`o${index}`, 'allow_once'));

  it.each<readonly [string, unknown, PreflightCode]>([
    ['no options', undefined, 'no_options'],
    ['options that are null', null, 'no_options'],
    ['options that are an object', { 0: ONCE }, 'no_options'],
    ['an empty list', [], 'no_options'],
    ['seventeen', many(17), 'too_many_options'],
    ['an empty id', [option('', 'allow_once')], 'bad_option_id'],
    ['a number as id', [option(7, 'allow_once')], 'bad_option_id'],
    ['null as option', [null], 'bad_option_id'],
    ['an id twice', [ONCE, option('yes', 'reject_once')], 'duplicate_option_id'],
    ['no kind', [option('x', undefined)], 'bad_option'],
    ['an empty kind', [option('x', '')], 'bad_option'],
    ['an empty name', [option('x', 'allow_once', '')], 'bad_option'],
    ['the ids before the kinds', [option('x', ''), option('', 'allow_once')], 'bad_option_id'],
    ['duplicates before the kinds', [option('x', ''), option('x', '')], 'duplicate_option_id'],
    ['the count before the ids', [...many(16), option('', '')], 'too_many_options'],
  ])('refuses %s, under either policy', (_, options, code) => {
    expect(preflight({ options })).toMatchObject({ ok: false, code });
    for (const policy of ['reject', 'allow'] as const) {
      expect(decidePermission(policy, { options })).toMatchObject({
        reason: 'rejected',
        detail: expect.stringMatching(/^options/),
      });
    }
  });

  it('accepts sixteen, and kinds from the future', () => {
    expect(preflight({ options: many(16) }).ok).toBe(true);
    expect(preflight({ options: [option('x', 'allow_for_a_week')] }).ok).toBe(true);
  });

  it.each([
    ['its reject option', [ONCE, ONCE, REJECT], selected('no')],
    ['cancelled where its id is empty', [option('', 'reject_once'), option('no', 'reject_once'), ONCE], CANCELLED],
    [
      "cancelled where its id is also an allowing one's",
      [option('x', 'allow_once'), option('x', 'reject_once')],
      CANCELLED,
    ],
    ['cancelled where there is no list', 'options', CANCELLED],
  ])('denies with %s', (_, options, answer) => {
    expect(decidePermission('allow', { options })).toMatchObject({ answer, reason: 'rejected' });
  });
});

describe('whatever is asked', () => {
  const member = fc.oneof(
    fc.constantFrom('a', 'b', '', 'allow_once', 'allow_always', 'reject_once', 'reject_always'),
    fc.constant(null),
    fc.nat(),
  );
  const anyOption = fc.oneof(
    fc.record({ optionId: member, kind: member, name: member }),
    fc.constantFrom(null, 7, 'x', []),
  );
  const anyParams = fc.record({
    options: fc.oneof(fc.array(anyOption, { maxLength: 20 }), fc.constantFrom(null, 'x', {})),
  });

  it('the answer is an offered id or cancelled, reject never grants, and nothing is ever granted for good', () => {
    fc.assert(
      fc.property(anyParams, fc.constantFrom('reject' as const, 'allow' as const), (params, policy) => {
        const { answer, reason } = decidePermission(policy, params);
        if (answer.outcome === 'cancelled') return;
        const options: readonly unknown[] = Array.isArray(params.options) ? params.options : [];
        const kinds = options.flatMap((offered) => {
          const { optionId, kind } = (offered ?? {}) as { readonly optionId?: unknown; readonly kind?: unknown };
          return optionId === answer.optionId ? [kind] : [];
        });
        expect(kinds.length).toBeGreaterThan(0);
        for (const kind of kinds) expect(kind).toBe(reason === 'allowed' ? 'allow_once' : 'reject_once');
        if (policy === 'reject') expect(reason).toBe('rejected');
      }),
      { numRuns: 1_000 },
    );
  });
});
