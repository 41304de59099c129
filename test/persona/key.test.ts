/** The owner's key of src/owner as the port of this room. */
import { describe, expect, it } from 'vitest';
import { Failure, seconds } from '../../src/model/index.ts';
import { openLocalKey } from '../../src/owner/index.ts';
import { portOf, versionPlaintext } from '../../src/persona/index.ts';
import { systemRandom } from '../../src/system/index.ts';
import { owner, stranger } from './people.ts';

const LOCAL = openLocalKey('1'.padStart(64, '0'), 'owner.key', systemRandom);
const TEMPLATE = { kind: 1, created_at: seconds(1), tags: [], content: '' };

describe('a key', () => {
  it('of this machine signs, seals the longest text, and opens it', async () => {
    const key = portOf(LOCAL);
    const text = versionPlaintext('x'.repeat(131_072));
    const sealed = await key.sealToSelf(text);
    if (!sealed.ok) return expect.fail(sealed.detail);
    expect(await key.openFromSelf(sealed.payload)).toEqual({ ok: true, plaintext: text });
    expect(await key.sign(TEMPLATE)).toMatchObject({ ok: true, event: { pubkey: owner } });
  });

  it('does not open what another has sealed, or what is nothing', async () => {
    const key = portOf(LOCAL);
    for (const payload of [await LOCAL.seal(stranger, 'x'), 'x']) expect(await key.openFromSelf(payload)).toMatchObject({ ok: false, code: 'unreadable' });
  });

  it('that is away knows nothing, and a bug is no absence', async () => {
    const away = (error: Error) => portOf({ pubkey: owner, sign: () => Promise.reject(error), seal: () => Promise.reject(error), open: () => Promise.reject(error) });
    const gone = away(new Failure('relay', 'no answer'));
    for (const answer of [gone.sign(TEMPLATE), gone.sealToSelf('x'), gone.openFromSelf('x')]) expect(await answer).toMatchObject({ ok: false, code: 'unavailable' });
    await expect(away(new TypeError('bug')).sign(TEMPLATE)).rejects.toThrow('bug');
  });
});
