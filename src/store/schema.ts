/**
 * The schema of a supervisor's data directory, `skep.db`. Which room reads and writes a table is said at the table;
 * every time column says its unit. Released entries are never edited.
 */
import type { Migrations } from './migrations.ts';

export const SUPERVISOR_SCHEMA: Migrations = [
  `
  -- supervisor/inbox: one row an accepted event and agent, kept for ever as the memory of what was handled; its body
  -- is dropped when it ends.
  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    event_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    lane TEXT NOT NULL,
    destination TEXT NOT NULL,
    author TEXT NOT NULL,
    rule TEXT NOT NULL,
    hops INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'dispatched', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    interrupted INTEGER NOT NULL DEFAULT 0,
    not_before_ms INTEGER NOT NULL DEFAULT 0,
    turn TEXT,
    outcome TEXT,
    event TEXT,
    UNIQUE (agent, event_id)
  );
  CREATE INDEX inbox_live ON inbox (agent, seq) WHERE status IN ('queued', 'dispatched');
  CREATE INDEX inbox_channel ON inbox (agent, channel, seq);
  CREATE INDEX inbox_destination ON inbox (agent, destination, seq);

  -- broker/journal: a principal in a community, the namespace of its request ids. A number stands for it in the journal:
  -- the names would be most of every row and index entry, and so of what each commit writes.
  CREATE TABLE journal_namespace (
    id INTEGER PRIMARY KEY,
    community TEXT NOT NULL,
    principal TEXT NOT NULL,
    UNIQUE (community, principal)
  );

  -- broker/journal: one row a brokered operation, kept as long as the principal can submit. Owner is the run of the
  -- broker that may go on with the row; a read's result is discarded after a while, the row stays as its tombstone.
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES journal_namespace (id),
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    action TEXT NOT NULL,
    turn TEXT,
    owner TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('claimed', 'signed', 'done')),
    event TEXT,
    result TEXT,
    claimed_at_ms INTEGER NOT NULL,
    UNIQUE (namespace, request_id)
  );
  CREATE INDEX journal_open ON journal (id) WHERE status <> 'done';
  CREATE INDEX journal_turn ON journal (turn) WHERE turn IS NOT NULL;
  CREATE INDEX journal_pages ON journal (claimed_at_ms) WHERE action = 'channel.read' AND result IS NOT NULL;

  -- broker/feed: how far an agent has read a channel, and where it began. Seconds are the events' own.
  CREATE TABLE resume (
    agent TEXT NOT NULL,
    channel TEXT NOT NULL,
    floor_sec INTEGER NOT NULL,
    seen_sec INTEGER NOT NULL,
    PRIMARY KEY (agent, channel)
  );

  -- acp: agent programs we started, so that a later start can end those a crash left behind.
  CREATE TABLE processes (
    pid INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    agent TEXT NOT NULL
  )
  `,
  `
  -- broker/feed: ids of the stored events before the floor that the first catch-up found, a JSON list; NULL until that
  -- catch-up is whole. They are history, whatever else stands before the floor came later.
  ALTER TABLE resume ADD COLUMN passed_over TEXT
  `,
  `
  -- acp: the digest of the mark in the environment of the program and all it starts; NULL where there was none.
  ALTER TABLE processes ADD COLUMN mark TEXT
  `,
  `
  -- broker/journal: the result that a signed row will have when the relay has its event, where it does not follow from
  -- the event.
  ALTER TABLE journal ADD COLUMN accepted TEXT;

  -- broker/managed: agents that agents made, one row each, kept when it is deleted. Its key is in a file of its own.
  CREATE TABLE managed_agents (
    pubkey TEXT PRIMARY KEY,
    community TEXT NOT NULL,
    requester TEXT NOT NULL,
    channel TEXT NOT NULL,
    display_name TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    runtime TEXT,
    respond_to TEXT NOT NULL CHECK (respond_to IN ('owner-only', 'anyone')),
    status TEXT NOT NULL CHECK (status IN ('provisioning', 'live', 'deleted')),
    created_at_ms INTEGER NOT NULL
  );
  CREATE INDEX managed_agents_of ON managed_agents (community, requester)
  `,
  `
  -- broker/credentials: issued to programs that skep does not run. Of a token only its SHA-256; scopes are JSON lists,
  -- NULL for all. An ended one is kept for a while, to be listed.
  CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    principal TEXT NOT NULL,
    community TEXT NOT NULL,
    owner TEXT NOT NULL,
    label TEXT,
    actions TEXT,
    channels TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER,
    used_at_ms INTEGER
  )
  `,
  `
  -- broker/journal: what was read is discarded after a while, values of memory like pages of a channel.
  DROP INDEX journal_pages;
  CREATE INDEX journal_reads ON journal (claimed_at_ms)
    WHERE action IN ('channel.read', 'storage.get') AND result IS NOT NULL
  `,
  `
  -- broker/controls: ids of control frames that were taken, so that none is obeyed twice; kept until a frame with its
  -- stamp would be too old. Seconds are those of created_at.
  CREATE TABLE control_frames (
    agent TEXT NOT NULL,
    event_id TEXT NOT NULL,
    keep_until_sec INTEGER NOT NULL,
    PRIMARY KEY (agent, event_id)
  ) WITHOUT ROWID
  `,
  `
  -- broker/cards: permission cards that may be visible and are not known to be closed, as signed events. A row is there
  -- before its card is sent, its edit before that is sent; it goes when the relay has the edit or wants none.
  CREATE TABLE permission_cards (
    community TEXT NOT NULL,
    agent TEXT NOT NULL,
    nonce TEXT NOT NULL,
    card TEXT NOT NULL,
    edit TEXT,
    PRIMARY KEY (community, agent, nonce)
  )
  `,
  `
  -- broker/managed: 1 from a change of the name until the agent's profile is known to bear it.
  ALTER TABLE managed_agents ADD COLUMN renamed INTEGER NOT NULL DEFAULT 0
  `,
  `
  -- supervisor/provider-limit: agents whose model's provider takes no more requests: how often in a row a turn has met it,
  -- and when the next one may.
  CREATE TABLE provider_limits (
    agent TEXT PRIMARY KEY,
    times INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
  ) WITHOUT ROWID
  `,
  `
  -- acp: where the program works; NULL of one that an older skep started.
  ALTER TABLE processes ADD COLUMN cwd TEXT
  `,
  `
  -- supervisor/sessions: the conversation of a lane that can be gone on with in another process: what it was opened with
  -- (a digest), what it has read (event ids, one after the other), how often it was tried since its last good turn.
  CREATE TABLE sessions (
    agent TEXT NOT NULL,
    lane TEXT NOT NULL,
    channel TEXT NOT NULL,
    session_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    in_system INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    turn_seq INTEGER NOT NULL,
    reopenings INTEGER NOT NULL,
    delivered TEXT NOT NULL,
    used_at_ms INTEGER NOT NULL,
    PRIMARY KEY (agent, lane)
  );
  CREATE INDEX sessions_used ON sessions (used_at_ms)
  `,
  `
  -- supervisor/operator: agents that have been given their initial prompt, which some are given once ever. A row is there
  -- before the prompt is sent.
  CREATE TABLE initial_prompts (
    agent TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL
  ) WITHOUT ROWID
  `,
  `
  -- launches: records of starts that the relay is not known to have, as engrams of the agent. A row is there before the
  -- agent is started; started says that a process of it has been, without which the record is of nothing.
  CREATE TABLE launch_records (
    community TEXT NOT NULL,
    agent TEXT NOT NULL,
    slug TEXT NOT NULL,
    value TEXT NOT NULL,
    started INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (community, agent, slug)
  ) WITHOUT ROWID
  `,
  `
  -- supervisor/inbox: of a message that its turn was given later, how many messages the agent may have published in the
  -- turn without having answered it.
  ALTER TABLE inbox ADD COLUMN answered_above INTEGER NOT NULL DEFAULT 0
  `,
];
