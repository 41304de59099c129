/**
 * Recorded turns and streams: their formats, and what the code of today makes of them.
 * in: model, nostr, compiler, store, supervisor. out: fixtures read strictly and written; streams replayed.
 */
export { fixtureText, readFixture } from './fixture.ts';
export type { Fixture } from './fixture.ts';
export { turnFixtureText } from './turn-fixture.ts';
export type { TurnFixture } from './turn-fixture.ts';
export { streamFixtureText } from './stream-fixture.ts';
export type { Sighting, StreamFixture, StreamSettings, StreamStep } from './stream-fixture.ts';
export { falseEvent } from './events.ts';
export type { FalseEvent } from './events.ts';
export { replayStream } from './stream.ts';
export { sightingsOf } from './sightings.ts';
