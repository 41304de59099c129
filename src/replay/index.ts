/**
 * Recorded turns and streams: their formats, and what the code of today makes of them.
 * in: model, nostr, compiler, turn-file, store, supervisor. out: fixtures read strictly and written; files found, replayed,
 * compared and blessed. Never: prints.
 */
export { fixtureText, readFixture } from './fixture.ts';
export type { Fixture } from './fixture.ts';
export { operatorFixtureText, turnFixtureText } from './turn-fixture.ts';
export type { OperatorFixture, TurnFixture } from './turn-fixture.ts';
export { streamFixtureText } from './stream-fixture.ts';
export type { SeenCut, Sighting, StreamFixture, StreamSettings, StreamStep } from './stream-fixture.ts';
export { replayStream } from './stream.ts';
export { sightingsOf } from './sightings.ts';
export { fixtureFiles, shardOf } from './files.ts';
export type { Shard } from './files.ts';
export { replayFile } from './replay.ts';
export type { Outcome, ReplayOptions } from './replay.ts';
export { loadFixture } from './load.ts';
export type { Broken } from './load.ts';
export type { ChangedMember, Difference, FirstDifference, LayerChange, Place } from './difference.ts';
