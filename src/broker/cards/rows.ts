/** The table of cards that may be visible and are not known to be closed. All its SQL is here. */
import { Failure } from '../../model/index.ts';
import type { Pubkey } from '../../model/index.ts';
import { parseEvent, verifyEvent } from '../../nostr/index.ts';
import type { VerifiedEvent } from '../../nostr/index.ts';
import { sql } from '../../store/index.ts';
import type { Row, Store } from '../../store/index.ts';

export interface StoredCard {
  readonly nonce: string;
  readonly card: VerifiedEvent;
  /** Signed, and not known to be on the relay. */
  readonly edit?: VerifiedEvent;
}

/** Every call may reject with the store's `Failure`. */
export interface CardRows {
  all(): Promise<readonly StoredCard[]>;
  /** Before the card is sent. */
  open(nonce: string, card: VerifiedEvent): Promise<void>;
  /** Before the edit is sent. False when the card is not there, or has an edit: it gets no second one. */
  close(nonce: string, edit: VerifiedEvent): Promise<boolean>;
  /** There is nothing left to be said of it. */
  forget(nonce: string): Promise<void>;
}

export function openCardRows(store: Store, owner: { readonly community: string; readonly agent: Pubkey }): CardRows {
  const { community, agent } = owner;
  return {
    async all() {
      const rows = await store.read(sql('SELECT nonce, card, edit FROM permission_cards WHERE community = ? AND agent = ?', community, agent));
      return rows.map(cardOf);
    },
    async open(nonce, card) {
      await store.write(sql(
        'INSERT INTO permission_cards (community, agent, nonce, card) VALUES (?, ?, ?, ?)', community, agent, nonce, JSON.stringify(card),
      ));
    },
    async close(nonce, edit) {
      const [written] = await store.write(sql(
        'UPDATE permission_cards SET edit = ? WHERE community = ? AND agent = ? AND nonce = ? AND edit IS NULL',
        JSON.stringify(edit), community, agent, nonce,
      ));
      return written?.changes === 1;
    },
    async forget(nonce) {
      await store.write(sql('DELETE FROM permission_cards WHERE community = ? AND agent = ? AND nonce = ?', community, agent, nonce));
    },
  };
}

function cardOf(row: Row): StoredCard {
  const { nonce, edit } = row;
  if (typeof nonce !== 'string') return corrupt('nonce');
  return { nonce, card: eventIn(row, 'card'), ...(edit === null ? {} : { edit: eventIn(row, 'edit') }) };
}

function eventIn(row: Row, column: 'card' | 'edit'): VerifiedEvent {
  const text = row[column];
  const parsed = typeof text === 'string' ? parseEvent(JSON.parse(text)) : undefined;
  const verified = parsed?.ok === true ? verifyEvent(parsed.event) : undefined;
  return verified?.ok === true ? verified.event : corrupt(column);
}

function corrupt(column: string): never {
  throw new Failure('storage_corrupt', `permission_cards: ${column} holds what skep did not write`);
}
