/**
 * The relay's database. Events are kept as the text that is sent; the columns beside it are what queries and access
 * rules ask for. Deletion requests are remembered by being stored: there is no second list of deleted ids.
 * `created_at` is in seconds. Released entries are never edited.
 */
import type { Migrations } from '../store/index.ts';

export const RELAY_SCHEMA: Migrations = [
  `
  -- seq is never used twice: subscriptions tell stored from live events by it.
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    pubkey TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    address TEXT UNIQUE,
    channel TEXT,
    gate TEXT NOT NULL CHECK (gate IN ('all', 'author', 'recipients', 'participants')),
    json TEXT NOT NULL
  );
  CREATE INDEX events_time ON events (created_at DESC, id);
  CREATE INDEX events_kind ON events (kind, created_at DESC, id);
  CREATE INDEX events_author ON events (pubkey, kind, created_at DESC, id);

  -- One row for each distinct single-letter tag and first value of an event.
  CREATE TABLE tags (
    letter TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    event INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
    PRIMARY KEY (letter, value, created_at, event)
  ) WITHOUT ROWID;
  CREATE INDEX tags_event ON tags (event, letter, value);

  -- The first owner an agent has proven by NIP-OA; observer frames between the two are let through by it.
  CREATE TABLE agents (
    agent TEXT PRIMARY KEY,
    owner TEXT NOT NULL
  ) WITHOUT ROWID
  `,
  `
  -- Words of what may be searched (NIP-50): notes, articles, messages, forum posts and comments, personas and teams.
  -- Whose they are to see is the event's gate, as everywhere. What is sealed has no words here: NIP-AP keeps kind 44300
  -- out of search even for its author.
  CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1);
  INSERT INTO words (rowid, text) SELECT seq, json ->> 'content' FROM events
    WHERE kind IN (1, 9, 30023, 30175, 30178, 40002, 45001, 45003);
  CREATE TRIGGER words_in AFTER INSERT ON events WHEN new.kind IN (1, 9, 30023, 30175, 30178, 40002, 45001, 45003)
    BEGIN INSERT INTO words (rowid, text) VALUES (new.seq, new.json ->> 'content'); END;
  CREATE TRIGGER words_out AFTER DELETE ON events WHEN old.kind IN (1, 9, 30023, 30175, 30178, 40002, 45001, 45003)
    BEGIN DELETE FROM words WHERE rowid = old.seq; END
  `,
];
