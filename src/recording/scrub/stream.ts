/**
 * A stream by its stand-ins. What is to be seen of it is seen anew, by replaying it, and must be what was expected
 * before, but for the stand-ins: a scrubbing that changes what a stream shows is a bug.
 */
import { unreachable } from '../../model/index.ts';
import { replayStream } from '../../replay/index.ts';
import type { SeenCut, Sighting, StreamFixture, StreamSettings, StreamStep } from '../../replay/index.ts';
import { endingText, scrubEnding } from './endings.ts';
import type { Events } from './events.ts';

/** Tells `events` everything of the stream that is to be replaced. */
export function tellStream({ settings, steps }: StreamFixture, events: Events): void {
  const { book } = events;
  for (const pubkey of [settings.agent, settings.owner, ...settings.allowlist, ...(settings.ancestors ?? [])]) book.introduce(pubkey);
  for (const step of steps) {
    if (step.do === 'arrive') {
      events.tell(step.event);
      if (step.author.owner !== undefined) book.introduce(step.author.owner);
    }
    if (step.do === 'finish') for (const ending of endingsOf(step)) book.words.tell(endingText(ending));
  }
}

/** `undefined` where the stream does not show what it says it does. */
export async function scrubStream(stream: StreamFixture, events: Events, provenance: string): Promise<StreamFixture | undefined> {
  const settings = scrubSettings(stream.settings, events);
  const steps = stream.steps.map((step) => scrubStep(step, events));
  const expected = await replayStream({ settings, steps });
  if (stream.expected !== undefined && !isSame(stream.expected.map((one) => scrubSighting(one, events)), expected)) return undefined;
  return { v: stream.v, provenance, settings, steps, expected };
}

function scrubSettings(settings: StreamSettings, { book }: Events): StreamSettings {
  return {
    ...settings, agent: book.pubkey(settings.agent), owner: book.pubkey(settings.owner),
    allowlist: settings.allowlist.map((pubkey) => book.pubkey(pubkey)),
    ...(settings.ancestors && { ancestors: settings.ancestors.map((pubkey) => book.pubkey(pubkey)) }),
  };
}

function scrubStep(step: StreamStep, events: Events): StreamStep {
  const { book } = events;
  switch (step.do) {
    case 'arrive': {
      const { author, channelId, event } = step;
      return {
        ...step, channelId: book.channel(channelId), event: events.scrubbed(event),
        author: { ...author, ...(author.owner !== undefined && { owner: book.pubkey(author.owner) }) },
      };
    }
    case 'finish':
      return {
        ...step, ending: scrubEnding(step.ending, (text) => book.text(text)),
        ...(step.apart && {
          apart: { eventIds: step.apart.eventIds.map((id) => book.eventId(id)), ending: scrubEnding(step.apart.ending, (text) => book.text(text)) },
        }),
      };
    case 'steer':
    case 'steered':
      return { ...step, eventId: book.eventId(step.eventId) };
    case 'leave':
    case 'cancel':
      return { ...step, channelId: book.channel(step.channelId) };
    case 'take':
    case 'restart':
      return step;
    default:
      return unreachable(step);
  }
}

function scrubSighting(seen: Sighting, { book }: Events): Sighting {
  const lane = (key: string): string => {
    const [channel = '', destination] = key.split('/');
    return destination === undefined ? book.channel(channel) : `${book.channel(channel)}/${book.eventId(destination)}`;
  };
  const scrubCut = ({ mode, eventIds }: SeenCut): SeenCut => ({ mode, eventIds: eventIds.map((id) => book.eventId(id)) });
  switch (seen.saw) {
    case 'queued':
      return { ...seen, eventId: book.eventId(seen.eventId), lane: lane(seen.lane) };
    case 'refused':
    case 'known':
    case 'command':
    case 'offer':
    case 'given':
      return { ...seen, eventId: book.eventId(seen.eventId) };
    case 'turn':
      return {
        ...seen, lane: lane(seen.lane), channelId: book.channel(seen.channelId), eventIds: seen.eventIds.map((id) => book.eventId(id)),
        ...(seen.merged && { merged: scrubCut(seen.merged) }), ...(seen.carried && { carried: scrubCut(seen.carried) }),
      };
    case 'done':
    case 'again':
    case 'dead':
      return { ...seen, eventIds: seen.eventIds.map((id) => book.eventId(id)) };
    case 'cut_short':
    case 'interrupt':
      return seen;
    default:
      return unreachable(seen);
  }
}

function endingsOf({ ending, apart }: Extract<StreamStep, { readonly do: 'finish' }>): readonly (typeof ending)[] {
  return apart === undefined ? [ending] : [ending, apart.ending];
}

/** Outcomes aside: a retry that is given up quotes what was replaced. */
function isSame(expected: readonly Sighting[], seen: readonly Sighting[]): boolean {
  const bare = (all: readonly Sighting[]): string => JSON.stringify(all.map((one) => ({ ...one, ...('outcome' in one && { outcome: '' }) })));
  return bare(expected) === bare(seen);
}
