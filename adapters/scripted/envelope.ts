/**
 * Reads the envelope of a turn back into facts: the events, the delivery line, what was interrupted.
 * in: the text blocks of one prompt. out: the facts, or none where no block is an envelope (a bare prompt is played
 * too). Agent context compiler: consumers recognise the boundaries and need no XML parser. Content is escaped there,
 * so a `<` at a boundary is always the envelope's own and forged tags inside a message stay text.
 */
export interface EnvelopeEvent {
  readonly type: string;
  readonly author: string;
  readonly actor: string;
  readonly eventId: string;
  readonly parent: string;
  readonly threadRoot: string;
  readonly mentions: string;
  readonly content: string;
}

/** Absent attributes read as the empty string. */
export interface Envelope {
  readonly events: readonly EnvelopeEvent[];
  readonly interrupted: readonly EnvelopeEvent[];
  readonly channelId: string;
  readonly scope: string;
  readonly replyTo: string;
  readonly mergeDisposition: string;
}

const ENVELOPE = /^<(buzz-turn|buzz-turn-update)(?: [^>\n]*)?>\n[\s\S]*<\/\1>\s*$/;
const AMBIENT = /<ambient-context>\n[\s\S]*?\n<\/ambient-context>\n/;
/** What the operator asks in a turn without a message stands where the event would. */
const EVENT = /<(event|operator-prompt)((?: [^>]*)?)>\n([\s\S]*?)\n<\/\1>/g;
const DELIVERY = /<delivery((?: [^>]*?)?)\s*\/>/;
const ATTRIBUTE = /([a-z_]+)="([^"]*)"/g;
const ENTITY = /&(amp|lt|gt|quot|apos);/g;
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

export function readEnvelope(blocks: readonly string[]): Envelope | undefined {
  const text = blocks.findLast((block) => ENVELOPE.test(block));
  if (text === undefined) return undefined;
  const ambient = AMBIENT.exec(text)?.[0] ?? '';
  const current = text.replace(AMBIENT, '');
  const delivery = attributes(DELIVERY.exec(current)?.[1] ?? '');
  return {
    events: events(current),
    interrupted: events(ambient),
    channelId: delivery.get('channel_id') ?? '',
    scope: delivery.get('scope') ?? '',
    replyTo: delivery.get('reply_to') ?? '',
    mergeDisposition: delivery.get('merge_disposition') ?? '',
  };
}

function events(text: string): readonly EnvelopeEvent[] {
  return Array.from(text.matchAll(EVENT), ([, , head = '', body = '']) => {
    const facts = attributes(head);
    return {
      type: facts.get('type') ?? '',
      author: facts.get('author') ?? '',
      actor: facts.get('actor') ?? '',
      eventId: facts.get('event_id') ?? '',
      parent: facts.get('parent') ?? '',
      threadRoot: facts.get('thread_root') ?? '',
      mentions: facts.get('mentions') ?? '',
      content: unescape(body.replace(/^Content: /, '')),
    };
  });
}

function attributes(text: string): ReadonlyMap<string, string> {
  return new Map(Array.from(text.matchAll(ATTRIBUTE), ([, name = '', value = '']) => [name, unescape(value)]));
}

// One pass: `&amp;lt;` is the text `&lt;`, which a second pass would turn into `<`.
function unescape(text: string): string {
  return text.replace(ENTITY, (entity, name: string) => CHARACTERS.get(name) ?? entity);
}
