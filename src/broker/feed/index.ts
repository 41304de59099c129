/**
 * What comes in for an agent.
 * in: an upstream, who the agent is, the store, clock and log. out: `openFeed` (channels found and followed, events in
 * order, one at a time, read positions durable).
 */
export { openFeed } from './feed.ts';
export type { Feed, FeedOptions } from './feed.ts';
