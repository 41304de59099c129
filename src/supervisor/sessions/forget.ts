/** Lets go of every session of a channel: at an owner's word, and when the agent leaves it. */
import type { ChannelId } from '../../model/index.ts';
import type { Flight } from '../flight.ts';
import type { Pool } from '../pool.ts';
import type { SessionMemory } from './memory.ts';

export interface SessionDoors {
  readonly pool: Pick<Pool, 'forget'>;
  readonly memory: Pick<SessionMemory, 'forgetChannel'>;
  readonly turnsIn: (channelId: ChannelId) => readonly Flight[];
}

/** Nothing of it is gone on with. Those that are in a turn are closed when that has ended. */
export function forgetSessions({ pool, memory, turnsIn }: SessionDoors, channelId: ChannelId): void {
  const flying = turnsIn(channelId);
  for (const flight of flying) flight.endSession();
  memory.forgetChannel(channelId);
  pool.forget(channelId, flying.map(({ batch: { lane }, life }) => ({ lane, life })));
}
