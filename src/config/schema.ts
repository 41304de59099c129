/**
 * The one schema of `skep.yaml`: every member, its default and its bounds. Members are closed: a name that is not here
 * is a mistake, never ignored. What needs the disk or two members at once is checked in `resolve.ts`.
 */
import { isIP } from 'node:net';
import type { z } from 'zod';
import { LOG_LEVELS } from '../model/index.ts';
import { adapter, args } from './adapter.ts';
import {
  channel, closed, count, duration, durationOrOff, environment, leaf, list, Mistake, publicKey, text, word,
} from './leaf.ts';
import { holdsSecretKey } from './found.ts';
import { asTeamId, isPersonaSlug } from '../persona/index.ts';

/** Bytes of standing text for one agent: a long page, well under what a prompt may hold. */
export const MAX_INSTRUCTIONS_BYTES = 65_536;
export const MAX_AGENTS = 64;
/** No agent offers a longer id to choose. */
const MAX_SETTING_BYTES = 200;
export const MAX_HARD_TIMEOUT_MS = 7 * 86_400_000;
/** Buzz's. */
const MAX_HEARTBEAT_MS = 86_400_000;
/** NIP-AO: no request waits longer for the owner. */
export const MAX_ASK_MS = 300_000;
/** Buzz's own defaults. */
export const DEFAULT_IDLE_MS = 15 * 60_000;
/** Buzz's. */
const DEFAULT_LIVENESS_MS = 10_000;
export const DEFAULT_HARD_MS = 2 * 3_600_000;

const relay = leaf('embedded, or a URL that begins with ws:// or wss://', (value) => {
  if (value === 'embedded') return { type: 'embedded' } as const;
  const url = relayUrl(value);
  return typeof url === 'string' ? { type: 'remote', url } as const : url;
});

function relayUrl(value: unknown): string | Mistake | undefined {
  if (typeof value !== 'string' || !/^wss?:\/\//i.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    return new Mistake('found a URL with a password, expected one without');
  }
  if (url.hash !== '') return new Mistake('found a URL with a fragment (#), expected one without');
  return url.href;
}

const host = leaf('an IP address or localhost', (value) =>
  typeof value === 'string' && isListenable(value) ? value : undefined);

/** A zone (`%eth0`) has no place in a URL. */
function isListenable(text: string): boolean {
  return (isIP(text) !== 0 && !text.includes('%')) || text.toLowerCase() === 'localhost';
}

const embedded = closed(
  {
    port: count(0, 65_535).default(7447),
    host: host.default('127.0.0.1'),
    url: leaf('a URL that begins with ws:// or wss://', relayUrl).optional(),
    channels: list(
      closed({ id: channel(), name: text('a name for people', 128) }, 'a mapping of id and name'),
      { min: 0, max: 256, expected: 'a list of at most 256 channels' },
    ).default([]),
  },
  'a mapping of port, host, url and channels',
);

const address = leaf('an IP address', (value) =>
  typeof value === 'string' && isIP(value) !== 0 && !value.includes('%') ? value : undefined);

/** A bearer credential goes there: in the clear only where no other machine can listen. */
const endpoint = leaf('an https URL without a path, or http on a loopback address', (value) => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const { protocol, hostname, origin, href } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
  return isSafe && href === `${origin}/` ? origin : undefined;
});

function isLoopbackName(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

const broker = closed(
  {
    address: address.default('127.0.0.1'),
    port: count(0, 65_535).default(0),
    tls: closed(
      {
        cert: text('the path of a file that holds a certificate chain (PEM)'),
        key: text('the path of a file that holds its private key (PEM)'),
      },
      'a mapping of cert and key',
    ).optional(),
    endpoint: endpoint.optional(),
  },
  'a mapping of address, port, tls and endpoint',
);

/** Other readers of YAML take on and off for true and false. */
const observe = leaf('on, batch or off', (value) => {
  if (value === 'batch') return 'batch';
  if (value === 'on' || value === true) return 'on';
  return value === 'off' || value === false ? 'off' : undefined;
});

const yesOrNo = leaf('true or false', (value) => (typeof value === 'boolean' ? value : undefined));

const heartbeat = closed(
  {
    every: duration(10_000, MAX_HEARTBEAT_MS),
    prompt: text('a text', MAX_INSTRUCTIONS_BYTES).optional(),
    'prompt-file': text('the path of a text file').optional(),
  },
  'a mapping of every, and prompt or prompt-file',
);

const initial = closed(
  {
    prompt: text('a text', MAX_INSTRUCTIONS_BYTES).optional(),
    'prompt-file': text('the path of a text file').optional(),
    when: word(['start', 'once']).default('start'),
  },
  'a mapping of prompt or prompt-file, and when',
);

const name = leaf('1 to 32 of a-z, 0-9 and -, beginning with a letter or digit', (value) =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,31}$/.test(value) ? value : undefined);

const attestation = leaf('a list of auth, owner, conditions and signature, or a file that holds it', (value) => {
  if (Array.isArray(value)) return value.every((part) => typeof part === 'string') ? { tag: value } : undefined;
  return typeof value === 'string' && !holdsSecretKey(value) && value.trim() !== '' ? { file: value } : undefined;
});

const persona = leaf('the slug of a definition: 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit', (value) =>
  typeof value === 'string' && isPersonaSlug(value) ? value : undefined);

const team = leaf('a team id: 1 to 64 characters without white space', (value) =>
  typeof value === 'string' && !holdsSecretKey(value) ? asTeamId(value) : undefined);

/** The address of a signer holds a secret: it is told as one that was found in the wrong place. */
const ownerKey = leaf('the path of a file that holds the owner\'s secret key or the address of a remote signer', (value) => {
  if (typeof value !== 'string' || value.trim() === '' || holdsSecretKey(value)) return undefined;
  return /bunker:/i.test(value) ? new Mistake('found the address of a signer, expected the path of a file that holds it') : value;
});

const agent = closed(
  {
    name,
    key: text('the path of a file that holds the agent\'s secret key'),
    owner: publicKey('the owner\'s public key (npub or 64 hex characters)').optional(),
    attestation: attestation.optional(),
    adapter,
    args: args.default([]),
    cwd: text('a directory').default('.'),
    env: environment().default({}),
    'respond-to': word(['owner-only', 'allowlist', 'anyone', 'nobody']).default('owner-only'),
    allowlist: list(publicKey('a public key (npub or 64 hex characters)'), {
      min: 1, max: 1_000, expected: 'a list of 1..1000 public keys',
    }).optional(),
    subscribe: word(['mentions', 'all']).default('mentions'),
    channels: list(channel(), {
      min: 1, max: 500, expected: 'a list of 1..500 channel ids, or no such member for all',
    }).optional(),
    processes: count(1, 32).default(1),
    'lazy-start': yesOrNo.default(false),
    'idle-sleep': durationOrOff(10_000, MAX_HARD_TIMEOUT_MS).optional(),
    session: word(['channel', 'thread']).optional(),
    'session-turns': count(0, 100_000).default(0),
    'session-idle': duration(0, MAX_HARD_TIMEOUT_MS).default(3_600_000),
    'max-sessions': count(1, 256).default(256),
    model: text('the id of a model', MAX_SETTING_BYTES).optional(),
    mode: text('the id of a mode', MAX_SETTING_BYTES).optional(),
    effort: text('the id of a level of effort', MAX_SETTING_BYTES).optional(),
    gather: duration(0, 10_000).default(200),
    'mid-turn': word(['steer', 'queue', 'interrupt', 'owner-interrupt']).default('steer'),
    'idle-timeout': duration(1_000, MAX_HARD_TIMEOUT_MS).default(DEFAULT_IDLE_MS),
    'hard-timeout': duration(1_000, MAX_HARD_TIMEOUT_MS).default(DEFAULT_HARD_MS),
    observe: observe.default('on'),
    liveness: duration(1_000, 600_000).default(DEFAULT_LIVENESS_MS),
    presence: yesOrNo.default(true),
    typing: yesOrNo.default(true),
    canary: durationOrOff(30_000, 86_400_000).optional(),
    heartbeat: heartbeat.optional(),
    'initial-prompt': initial.optional(),
    'operator-session': word(['kept', 'fresh']).default('kept'),
    permission: word(['reject', 'allow', 'ask']).default('reject'),
    'ask-timeout': duration(1_000, MAX_ASK_MS).default(MAX_ASK_MS),
    mcp: yesOrNo.default(true),
    'manage-agents': yesOrNo.default(true),
    instructions: text('a text', MAX_INSTRUCTIONS_BYTES).optional(),
    'instructions-file': text('the path of a text file').optional(),
    persona: persona.optional(),
    teams: list(team, { min: 0, max: 64, expected: 'a list of at most 64 team ids' }).optional(),
    'team-instructions': text('a text', MAX_INSTRUCTIONS_BYTES).optional(),
  },
  'a mapping that describes an agent',
);

export const schema = closed(
  {
    relay,
    data: text('a directory').default('.skep'),
    embedded: embedded.optional(),
    broker: broker.optional(),
    log: word(LOG_LEVELS).default('info'),
    grace: duration(0, 600_000).default(30_000),
    record: text('a directory').optional(),
    'owner-key': ownerKey.optional(),
    agents: list(agent, { min: 1, max: MAX_AGENTS, expected: `a list of 1..${MAX_AGENTS} agents` }),
  },
  'a mapping with relay and agents',
);

export type Written = z.output<typeof schema>;
export type WrittenAgent = Written['agents'][number];
export const embeddedDefaults = embedded.parse({});
export const brokerDefaults = broker.parse({});
