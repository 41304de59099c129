/**
 * What is done in a session between its answer to session/new and its first prompt, as the profile says: the standing text
 * by goose's own method, and the mode in which the agent asks before it acts.
 */
import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import type { Waited } from '../model/index.ts';
import { isMembers, METHOD_NOT_FOUND } from './frames.ts';
import type { Members } from './frames.ts';
import type { SystemPromptForm } from './handshake.ts';
import type { CallResult } from './sdk-client.ts';

const GOOSE_PROMPT_METHOD = '_goose/unstable/session/system-prompt/set';
/** Under which name goose keeps the text, so that another set replaces it. */
const GOOSE_KEY = 'skep';

interface SetupParts {
  /** One request, waited for in bounded time. */
  readonly ask: (method: string, params: Members) => Promise<Waited<CallResult>>;
  readonly startMode: string | undefined;
  readonly onNotAsking: (detail: string) => void;
}

export class SessionSetup {
  /** How the standing text goes into a session; goose's way is given up where its method is not there. */
  form: SystemPromptForm = 'none';
  readonly #parts: SetupParts;

  constructor(parts: SetupParts) {
    this.#parts = parts;
  }

  /** False where the text has to go into the first prompt. */
  async takesText(sessionId: string, text: string): Promise<boolean> {
    if (this.form !== 'goose') return true;
    const waited = await this.#parts.ask(GOOSE_PROMPT_METHOD, { sessionId, mode: 'set', key: GOOSE_KEY, text });
    if (waited.status === 'late') return false;
    // An older goose: the next session is not asked.
    if (waited.value.status === 'error' && waited.value.code === METHOD_NOT_FOUND) this.form = 'none';
    return waited.value.status === 'result';
  }

  /** `answer` is that to session/new, which says what the session offers and is in. */
  async beginAsking(sessionId: string, answer: unknown): Promise<void> {
    const { ask, startMode, onNotAsking } = this.#parts;
    if (startMode === undefined) return;
    const step = modeStep(answer, startMode);
    if (step.type === 'is_there') return;
    if (step.type === 'not_offered') return onNotAsking(`the session does not offer the mode ${startMode}`);
    const waited = await ask(...requestOf(sessionId, step));
    if (waited.status === 'late') return onNotAsking(`no answer to the mode ${startMode}`);
    if (waited.value.status === 'error') onNotAsking(waited.value.message);
  }
}

/** How a session is put into the wanted mode. */
export type ModeStep =
  | { readonly type: 'is_there' }
  | { readonly type: 'config_option'; readonly configId: string; readonly value: string }
  | { readonly type: 'mode'; readonly modeId: string }
  | { readonly type: 'not_offered' };

/** A config option goes before the older modes: agents that have both speak of the same thing. */
export function modeStep(result: unknown, wanted: string): ModeStep {
  const { modes, configOptions } = isMembers(result) ? result : {};
  const option = Array.isArray(configOptions) ? configOptions.filter(isMembers).find(isOfMode) : undefined;
  const configId = option === undefined ? undefined : [option['id'], option['key'], option['configId']].find((id) => typeof id === 'string');
  if (option !== undefined && configId !== undefined && valuesOf(option['options']).includes(wanted)) {
    return option['currentValue'] === wanted ? { type: 'is_there' } : { type: 'config_option', configId, value: wanted };
  }
  const { availableModes, currentModeId } = isMembers(modes) ? modes : {};
  const offered = Array.isArray(availableModes) ? availableModes.filter(isMembers).map(({ id }) => id) : [];
  if (!offered.includes(wanted)) return { type: 'not_offered' };
  return currentModeId === wanted ? { type: 'is_there' } : { type: 'mode', modeId: wanted };
}

function requestOf(sessionId: string, step: Extract<ModeStep, { readonly type: 'config_option' | 'mode' }>): [string, Members] {
  return step.type === 'mode'
    ? [AGENT_METHODS.session_set_mode, { sessionId, modeId: step.modeId }]
    : [AGENT_METHODS.session_set_config_option, { sessionId, configId: step.configId, value: step.value }];
}

function isOfMode(option: Members): boolean {
  return option['category'] === 'mode';
}

/** Options may stand in groups. */
function valuesOf(options: unknown): readonly unknown[] {
  if (!Array.isArray(options)) return [];
  return options.filter(isMembers).flatMap((option) => ('options' in option ? valuesOf(option['options']) : [option['value']]));
}
