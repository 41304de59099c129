/**
 * Permission cards of one agent on the relay: signed once, stored before they are sent, closed again whatever happens.
 * in: cards and how they ended, as `src/cards` has them; a publisher, the relay connection, the store. out: the fate of a
 * card, its one edit.
 */
export { openCards } from './cards.ts';
export type { Cards } from './cards.ts';
export { openCardRows } from './rows.ts';
