import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeRequest } from '../../src/cards/description.ts';

const inCall = (toolCall: unknown, more: object = {}) => describeRequest({ toolCall, ...more });

describe('what the agent wants to do', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string | null]>([
    ['the request\'s own title first', { title: 'One', subject: { toolCall: { title: 'Two' } }, toolCall: { title: 'Three' } }, 'One'],
    ['then that of its subject', { title: ' ', subject: { toolCall: { title: 'Two' } }, toolCall: { title: 'Three' } }, 'Two'],
    ['then that of its tool call', { title: 7, toolCall: { title: 'Three' } }, 'Three'],
    ['the command', { title: 'Run', toolCall: { rawInput: { command: 'ls -la', path: '/x' } } }, 'Run (ls -la)'],
    ['the command word by word', { title: 'Run', toolCall: { rawInput: { command: ['ls', '-la'] } } }, 'Run (ls -la)'],
    ['the subject\'s input before the call\'s', { title: 'Run', subject: { toolCall: { rawInput: { path: 'a' } } }, toolCall: { rawInput: { path: 'b' } } }, 'Run (a)'],
    ['the file', { title: 'Edit', toolCall: { rawInput: { cwd: '/', url: 'u', path: '/etc/hosts' } } }, 'Edit (/etc/hosts)'],
    ['the directory, where there is no more', { title: 'Look', toolCall: { rawInput: { reason: 'r', cwd: '/srv' } } }, 'Look (/srv)'],
    ['the scalars, where there is no more', { title: 'Call', toolCall: { rawInput: { count: 3, list: [1], deep: {}, on: true, none: null } } }, 'Call ({"count":3,"on":true})'],
    ['no brackets around nothing', { title: 'Call', toolCall: { rawInput: { list: [] } } }, 'Call'],
    ['without a title the command', { toolCall: { rawInput: { command: 'ls' } } }, 'ls'],
    ['without a title codex\'s reason', { _meta: { codex: { params: { reason: 'to look' } } } }, 'to look'],
    ['nothing', { toolCall: { rawInput: [] }, options: [] }, null],
    ['nothing of wrong types', { title: null, subject: 'x', toolCall: [{ title: 'x' }], _meta: 3 }, null],
  ])('%s', (_, params, expected) => {
    expect(describeRequest(params)).toBe(expected);
  });
});

describe('what it does not show', () => {
  it.each(['apiKey', 'api_key', 'Token', 'password', 'authorization', 'privateKey', 'github_token', 'credentials'])('the value of a member %s', (name) => {
    expect(inCall({ title: 'T', rawInput: { keep: 1, [name]: 'abc' } })).toBe(`T ({"keep":1,"${name}":"<redacted>"})`);
  });

  it.each([
    ['PASSWORD=hunter22 ./deploy', 'PASSWORD=<redacted> ./deploy'], ['curl --token hunter22 x', 'curl --token <redacted> x'],
    ['curl --api-key=hunter22 x', 'curl --api-key=<redacted> x'], ['curl -H "X-Api-Key: hunter22"', 'curl -H "X-Api-Key: <redacted>"'],
    ['x {"client_secret": "hunter22"}', 'x {"client_secret": "<redacted>"}'], ['psql postgres://me:hunter22@host/db', 'psql postgres://me:<redacted>@host/db'],
    ['curl -H "Authorization: Bearer hunter22"', 'curl -H "Authorization: <redacted>"'],
    ['curl -H "Authorization: Basic aHVudGVyMjI="', 'curl -H "Authorization: <redacted>"'], ["x --password 'hunter 22' y", "x --password '<redacted>' y"],
    ['curl --token  hunter22', 'curl --token  <redacted>'], ['gpg --passphrase hunter22 x', 'gpg --passphrase <redacted> x'], ['DB_PASS=hunter22 x', 'DB_PASS=<redacted> x'],
    ['MYSQL_PWD=hunter22 x', 'MYSQL_PWD=<redacted> x'], ['PWD=/srv x', 'PWD=/srv x'], ['curl -u me:hunter22 https://h', 'curl -u me:<redacted> https://h'],
    ['docker run -u 1000:1000 x', 'docker run -u 1000:1000 x'], ["curl -H 'Proxy-Authorization: Basic hunter22' x", "curl -H 'Proxy-Authorization: <redacted>' x"],
    ['curl -H "Authorization: Made Up=hunter22, By=hunter22" x', 'curl -H "Authorization: <redacted>" x'], ['curl -H "Cookie: a=hunter22; b=hunter22" x', 'curl -H "Cookie: <redacted>" x'],
    ['git commit -m "Co-authored-by: Ann <a@b>"', 'git commit -m "Co-authored-by: Ann <a@b>"'], ['curl https://h/?access_token=hunter22&x=1', 'curl https://h/?access_token=<redacted>&x=1'],
    [String.raw`curl -d "{\"password\":\"hunter22\",\"a\":1}"`, String.raw`curl -d "{\"password\":\"<redacted>\",\"a\":1}"`], ['x {"password" :  "hunter22", "a": 1}', 'x {"password" :  "<redacted>", "a": 1}'],
    ['PASSWORD=a,hunter22 x', 'PASSWORD=<redacted> x'], ['PASSWORD=a"hunter22" x', 'PASSWORD=<redacted> x'], [String.raw`PASSWORD=a\ hunter22 x`, 'PASSWORD=<redacted> x'],
    ["TOKEN=$'hunter22' x", "TOKEN=$'<redacted>' x"], [`x --api-key '${'y'.repeat(450)}hunter22' z`, "x --api-key '<redacted>' z"],
    ['psql postgres://me:p@hunter/22@host/db', 'psql postgres://me:<redacted>@host/db'], ['git clone https://hunter22hunter22x@host/r', 'git clone https://<redacted>@host/r'],
    ['npm i http://localhost:4873/@scope/package', 'npm i http://localhost:4873/@scope/package'], ['git clone ssh://git@host/r', 'git clone ssh://git@host/r'],
    ['x github_pat_hunter22hunter22', 'x <redacted>'], ['x AKIAIOSFODNN7EXAMPLE', 'x <redacted>'], ['x eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln', 'x <redacted>'], ['x --token --verbose', 'x --token --verbose'],
    [`echo nsec1${'q'.repeat(58)}`, 'echo <redacted>'], ['count the tokens of this', 'count the tokens of this'], ['a token ring', 'a token ring'],
  ])('in %j', (command, expected) => {
    expect(inCall({ rawInput: { command } })).toBe(expected);
  });

  it('a secret that a cut would have broken', () => {
    const shown = inCall({ rawInput: { command: `${'x'.repeat(90)} nsec1${'q'.repeat(300)}${'y'.repeat(200)}` } }) ?? '';
    expect(shown).not.toContain('nsec1');
    expect(shown).not.toContain('qqqqqqqq');
  });

  it('characters that hide or turn text, but as escapes', () => {
    expect(inCall({ title: 'safe\u202etxt.exe\u200b', rawInput: { command: 'a\nb\u2066' } })).toBe('safe\\u{202e}txt.exe\\u{200b} (a\\u{a}b\\u{2066})');
  });
});

describe('how long it is', () => {
  it('a title has 185 bytes, and says where it is cut', () => {
    expect(inCall({ title: 'a'.repeat(185) })).toBe('a'.repeat(185));
    expect(inCall({ title: 'a'.repeat(186) })).toBe(`${'a'.repeat(182)}…`);
    expect(inCall({ title: 'a'.repeat(186), rawInput: { command: 'b'.repeat(99) } })).toBe(`${'a'.repeat(182)}… (${'b'.repeat(5)}…${'b'.repeat(4)})`);
  });

  it('what it is about keeps its beginning and its end', () => {
    expect(inCall({ title: 'Run', rawInput: { command: `begin ${'x'.repeat(300)} end` } })).toMatch(/^Run \(begin x+…x+ end\)$/);
    expect(inCall({ rawInput: { command: `begin ${'x'.repeat(300)} end` } })).toMatch(/^begin x+…x+ end$/);
  });

  it('is never more than 200 bytes of well-formed text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constant('\ud83d'.repeat(99)));
    fc.assert(fc.property(text, text, fc.object({ maxDepth: 1 }), (title, command, raw) => {
      for (const params of [{ title }, { title, toolCall: { rawInput: { command } } }, { toolCall: { rawInput: { command } } }, { title, toolCall: { rawInput: raw } }]) {
        const shown = describeRequest(params);
        if (shown === null) continue;
        expect(Buffer.byteLength(shown, 'utf8')).toBeLessThanOrEqual(200);
        expect(shown.isWellFormed()).toBe(true);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }
    }), { numRuns: 300 });
  });
});
