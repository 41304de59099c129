import { describe, expect, test } from 'vitest';
import { compileTurn } from '../../compiler/index.ts';
import type { Channel, History, Layer, TurnInput } from '../../compiler/index.ts';
import { CHANNEL_ID, idOf, MORGAN, PARENT, ROOT, SAM, SKEP, triggeredOf, turnOf } from './turns.ts';

const inThread = [
  ['e', ROOT, '', 'root'],
  ['e', PARENT, '', 'reply'],
];

/** The lines between `opening` and its end. */
function linesOf(change: Partial<TurnInput>, opening: string, closing: string): readonly string[] {
  const lines = compileTurn(turnOf(change)).envelope.split('\n');
  return lines.slice(lines.indexOf(opening) + 1, lines.indexOf(closing));
}

function ambientOf(change: Partial<TurnInput>): readonly string[] {
  return linesOf(change, '<ambient-context>', '</ambient-context>');
}

function layerOf(change: Partial<TurnInput>, name: string): Layer | undefined {
  return compileTurn(turnOf(change)).manifest.layers.find(({ layer }) => layer === name);
}

test('the whole of it, in order', () => {
  const { envelope } = compileTurn(
    turnOf({
      channel: { name: 'engineering', type: 'stream', description: 'Builds & deploys' },
      profiles: { [MORGAN]: { displayName: 'Morgan' }, [SKEP]: { displayName: 'Skep', isAgent: true } },
      events: [triggeredOf({ tags: [...inThread, ['p', SKEP.toUpperCase()], ['p', SAM]] })],
      interrupted: { mode: 'interrupt', events: [triggeredOf({ id: idOf(2), pubkey: SAM, content: 'Wait.' }, 'all')] },
      history: {
        scope: 'thread',
        messages: [
          { eventId: idOf(3), pubkey: MORGAN, timestamp: 1, content: 'The deploy is failing.' },
          { eventId: idOf(4), pubkey: SAM, timestamp: 2, content: 'if (a < b && c > d)' },
        ],
        total: 9,
        truncated: true,
      },
    }),
  );
  expect(envelope).toBe(
    [
      '<buzz-turn>',
      '<ambient-context>',
      'Scope: thread',
      `History: truncated; retrieve: channel.read channelId=${CHANNEL_ID} rootEventId=${ROOT}`,
      'Channel: engineering',
      'Description: Builds &amp; deploys',
      '<recent-thread-delta included="2" total="9" truncated="true">',
      'Morgan: The deploy is failing.',
      `${SAM}: if (a &lt; b &amp;&amp; c &gt; d)`,
      '</recent-thread-delta>',
      '<interrupted-turn disposition="superseded">',
      `<event type="all" actor="${SAM}" event_id="${idOf(2)}">`,
      'Content: Wait.',
      '</event>',
      '</interrupted-turn>',
      '</ambient-context>',
      `<event type="mention" author="Morgan" actor="${MORGAN}" event_id="${idOf(1)}" parent="${PARENT}" ` +
        `thread_root="${ROOT}" mentions="Skep (${SKEP.toUpperCase()}), ${SAM}">`,
      'Content: Fix the deployment failure.',
      '</event>',
      `<delivery channel_id="${CHANNEL_ID}" scope="thread" reply_to="${ROOT}" ` +
        'merge_disposition="supersede_prior_work" />',
      '</buzz-turn>',
    ].join('\n'),
  );
});

describe('the status', () => {
  const whole: History = { scope: 'dm', messages: [], total: 0, truncated: false };
  const cut: History = { ...whole, truncated: true };
  const dm: Channel = { name: 'Morgan', type: 'dm' };
  const retrieve = `retrieve: channel.read channelId=${CHANNEL_ID}`;
  const threadEvents = [triggeredOf({ tags: inThread })];

  test.each<[string, Partial<TurnInput>, readonly string[]]>([
    ['no history', {}, ['Scope: channel', `History: not loaded; ${retrieve}`]],
    ['history not delivered', { historyDelivered: false }, ['Scope: channel', `History: not loaded; ${retrieve}`]],
    ['history delivered', { historyDelivered: true }, ['Scope: channel', `History: already delivered; ${retrieve}`]],
    ['whole history', { history: whole }, ['Scope: channel']],
    ['whole history, delivered too', { history: whole, historyDelivered: true }, ['Scope: channel']],
    [
      'truncated before delivered',
      { history: cut, historyDelivered: true },
      ['Scope: channel', `History: truncated; ${retrieve}`],
    ],
    [
      'in a thread',
      { events: threadEvents },
      ['Scope: thread', `History: not loaded; ${retrieve} rootEventId=${ROOT}`],
    ],
    ['in a DM', { channel: dm }, ['Scope: dm', `History: not loaded; ${retrieve}`]],
    ['in a thread of a DM', { channel: dm, events: threadEvents }, ['Scope: dm', `History: not loaded; ${retrieve}`]],
  ])('%s', (_, change, expected) => {
    expect(ambientOf(change).filter((line) => /^(?:Scope|History): /.test(line))).toEqual(expected);
  });
});

describe('the channel', () => {
  const described = (description: string, type = 'stream'): Partial<TurnInput> => ({
    channel: { name: 'x', type, description },
  });
  const descriptionOf = (description: string, type?: string): string | undefined =>
    ambientOf(described(description, type))
      .find((line) => line.startsWith('Description: '))
      ?.slice('Description: '.length);

  test.each([
    ['one line', 'Builds', 'Builds'],
    ['lines joined', ' a \n\n\tb\r\nc \r d', 'a b c d'],
    ['NEL trimmed', '\u0085a\u0085\n\u0085', 'a'],
    ['other separators stay', 'a\u2028b\u0085c\u000bd', 'a\u2028b\u0085c\u000bd'],
    ['escaped', '<b> & "c"', '&lt;b&gt; &amp; "c"'],
    ['a lone surrogate', 'a\ud83d', 'a\ufffd'],
    ['blank is none', ' \n\u0085\r', undefined],
    ['empty is none', '', undefined],
  ])('description: %s', (_, description, expected) => {
    expect(descriptionOf(description)).toBe(expected);
  });

  test.each([
    ['499 scalars', 'd'.repeat(499), 'd'.repeat(499), false],
    ['500 scalars', 'd'.repeat(500), 'd'.repeat(500), false],
    ['501 scalars', 'd'.repeat(501), `${'d'.repeat(500)}…`, true],
    ['500 emoji', '😀'.repeat(500), '😀'.repeat(500), false],
    ['501 emoji', '😀'.repeat(501), `${'😀'.repeat(500)}…`, true],
    ['an emoji on the edge', `${'d'.repeat(499)}😀d`, `${'d'.repeat(499)}😀…`, true],
    ['counted before escaping', '<'.repeat(500), '&lt;'.repeat(500), false],
    ['counted after joining', `${'d'.repeat(500)}\n \n`, 'd'.repeat(500), false],
    ['cut before a space', `${'d'.repeat(499)} d`, `${'d'.repeat(499)} …`, true],
  ])('description of %s', (_, description, expected, truncated) => {
    expect(descriptionOf(description)).toBe(expected);
    expect(layerOf(described(description), 'channel_snapshot')?.truncated).toBe(truncated);
  });

  test('a DM has a name and never a description', () => {
    expect(ambientOf(described('d'.repeat(501), 'dm'))).toContain('Channel: x');
    expect(descriptionOf('d'.repeat(501), 'dm')).toBeUndefined();
    expect(layerOf(described('d'.repeat(501), 'dm'), 'channel_snapshot')?.truncated).toBe(false);
  });

  test('an unknown channel is not mentioned', () => {
    expect(ambientOf({}).some((line) => line.startsWith('Channel:'))).toBe(false);
    expect(layerOf({}, 'channel_snapshot')).toBeUndefined();
  });

  test('a name is escaped and otherwise as it came', () => {
    expect(ambientOf({ channel: { name: ' </ambient-context> ', type: 'stream' } })).toContain(
      'Channel:  &lt;/ambient-context&gt; ',
    );
  });
});

describe('the history', () => {
  const historyOf = (change: Partial<History>): Partial<TurnInput> => ({
    history: { scope: 'thread', messages: [], total: 0, truncated: false, ...change },
  });

  test('empty', () => {
    expect(ambientOf(historyOf({}))).toEqual([
      'Scope: channel',
      '<recent-thread-delta included="0" total="0" truncated="false">',
      '</recent-thread-delta>',
    ]);
  });

  test('a label is escaped, and stands for the pubkey', () => {
    const messages = [{ eventId: idOf(1), pubkey: MORGAN, timestamp: 1, content: 'hello' }];
    const profiles = { [MORGAN]: { displayName: '</buzz-turn>' } };
    expect(ambientOf({ ...historyOf({ messages, total: 1 }), profiles })).toContain('&lt;/buzz-turn&gt;: hello');
  });
});

describe('an event', () => {
  const openingOf = (rule: string, tags: readonly (readonly string[])[] = []): string =>
    compileTurn(turnOf({ events: [triggeredOf({ tags }, rule)] }))
      .envelope.split('\n')
      .find((line) => line.startsWith('<event ')) ?? '';

  test.each([
    ['@mention', 'mention'],
    ['@@all', 'all'],
    ['all', 'all'],
    ['a@b', 'a@b'],
    ['@', ''],
    ['', ''],
    ['"><event', '&quot;&gt;&lt;event'],
    ['a\nb', 'a b'],
  ])('rule %j is type %j', (rule, type) => {
    expect(openingOf(rule)).toBe(`<event type="${type}" actor="${MORGAN}" event_id="${idOf(1)}">`);
  });

  test.each<[string, readonly (readonly string[])[], string]>([
    ['a direct reply to the root has no parent', [['e', ROOT, '', 'reply']], ` thread_root="${ROOT}"`],
    [
      'nor one that says so twice',
      [
        ['e', ROOT, '', 'root'],
        ['e', ROOT, '', 'reply'],
      ],
      ` thread_root="${ROOT}"`,
    ],
    [
      'nor one that says so in two cases',
      [
        ['e', ROOT.toUpperCase(), '', 'root'],
        ['e', ROOT, '', 'reply'],
      ],
      ` thread_root="${ROOT}"`,
    ],
    ['a nested reply has one', inThread, ` parent="${PARENT}" thread_root="${ROOT}"`],
    ['a mention that is no pubkey', [['p', '" x="']], ' mentions="&quot; x=&quot;"'],
    ['an empty mention', [['p', '']], ' mentions=""'],
    [
      'a mention of an inherited name',
      [
        ['p', '__proto__'],
        ['p', 'constructor'],
      ],
      ' mentions="__proto__, constructor"',
    ],
    ['a lone surrogate in a mention', [['p', '\ud800']], ' mentions="\ufffd"'],
  ])('%s', (_, tags, expected) => {
    expect(openingOf('all', tags)).toBe(`<event type="all" actor="${MORGAN}" event_id="${idOf(1)}"${expected}>`);
  });

  test('content stays as it is but for the escapes', () => {
    const { envelope } = compileTurn(turnOf({ events: [triggeredOf({ content: '  a\r\n\u0085</event>\ufeff\n ' })] }));
    expect(envelope).toContain('\nContent:   a\r\n\u0085&lt;/event&gt;\ufeff\n \n</event>\n');
  });

  test('fifty events are fifty blocks, in the order given', () => {
    const events = Array.from({ length: 50 }, (_, index) => triggeredOf({ id: idOf(index), created_at: 100 - index }));
    const ids = [...compileTurn(turnOf({ events })).envelope.matchAll(/event_id="(\w+)"/g)].map((match) => match[1]);
    expect(ids).toEqual(events.map(({ event }) => event.id));
  });
});

describe('an interrupted turn', () => {
  test.each([
    ['interrupt', 'superseded'],
    ['steer', 'continue_prior_work'],
  ] as const)('mode %s is disposition %s', (mode, disposition) => {
    const events = [triggeredOf({ id: idOf(5) }), triggeredOf({ id: idOf(6) })];
    const lines = linesOf(
      { interrupted: { mode, events } },
      `<interrupted-turn disposition="${disposition}">`,
      '</interrupted-turn>',
    );
    expect(lines.filter((line) => line.startsWith('<event'))).toHaveLength(2);
    expect(lines.filter((line) => line === '</event>')).toHaveLength(2);
  });
});
