/**
 * `initialize`: what we say of ourselves, and what we take from the answer. Exactly version 1 is asked for and checked:
 * agents answer other numbers with what they like best, and then expect other params.
 */
import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { InitializeRequest } from '@agentclientprotocol/sdk';
import type { Dialect, StandingRole } from '../../adapters/index.ts';
import { excerpt, refuse } from '../model/index.ts';
import type { Refusal } from '../model/index.ts';
import { isMembers } from './frames.ts';
import type { Members } from './frames.ts';

/** How the standing text gets into a session: in `session/new` as content or in Claude's older `_meta` form, by goose's method after it, or not at all. */
export type SystemPromptForm = 'content' | 'meta' | 'goose' | 'none';

export interface AgentTraits {
  readonly agentInfo: { readonly name: string; readonly version: string };
  readonly systemPrompt: SystemPromptForm;
  /** It takes `session/close`. */
  readonly closesSessions: boolean;
  /** How it goes on with a session of an earlier process: without a word, or by sending all of it again. */
  readonly reopens: 'resume' | 'load' | 'none';
  /** It takes messages for a turn that is under way (`_session/steering`). */
  readonly steers: boolean;
  /** The whole answer, for whoever shows it. */
  readonly initialized: Members;
}

export function initializeParams(version: string): InitializeRequest {
  return {
    protocolVersion: PROTOCOL_VERSION,
    // The agent has its own file system and terminal: skep lends it none.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      // goose tells of usage only to whoever asks for it; to others it is a member they do not know.
      _meta: { goose: { customNotifications: true } },
    },
    clientInfo: { name: 'skep', version },
  };
}

/** What the agent says it can do rules over what a profile knows of it beforehand. */
export function readInitialize(
  result: unknown,
  { standing, replaysLate = false }: Pick<Dialect, 'standing' | 'replaysLate'>,
): { readonly ok: true; readonly traits: AgentTraits } | Refusal<'initialize'> {
  if (!isMembers(result)) return refuse('initialize', 'initialize: expected an object as result');
  const { protocolVersion, agentCapabilities, agentInfo } = result;
  if (protocolVersion !== PROTOCOL_VERSION) {
    const found = protocolVersion === undefined ? 'nothing' : excerpt(JSON.stringify(protocolVersion));
    return refuse('initialize', `initialize: protocolVersion: expected ${PROTOCOL_VERSION}, found ${found}`);
  }
  const { loadSession, sessionCapabilities } = membersOrNone(agentCapabilities);
  const { systemPrompt, close, resume } = membersOrNone(sessionCapabilities);
  const { name, version } = membersOrNone(agentInfo);
  const { steering } = membersOrNone(result['_meta']);
  return {
    ok: true,
    traits: {
      agentInfo: { name: typeof name === 'string' ? name : '', version: typeof version === 'string' ? version : '' },
      systemPrompt: isOffered(systemPrompt) ? 'content' : FORMS[standing],
      closesSessions: isOffered(close),
      reopens: isOffered(resume) ? 'resume' : loadSession === true && !replaysLate ? 'load' : 'none',
      steers: membersOrNone(steering)['supported'] === true,
      initialized: result,
    },
  };
}

const FORMS: Readonly<Record<StandingRole, SystemPromptForm>> = {
  'capability': 'none', 'meta-append': 'meta', 'goose-method': 'goose', 'first-message': 'none',
};

/** ACP writes a capability as an object, empty or not. */
function isOffered(capability: unknown): boolean {
  return isMembers(capability) || capability === true;
}

function membersOrNone(value: unknown): Members {
  return isMembers(value) ? value : {};
}
