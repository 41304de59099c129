/**
 * What is done in a session between the answer that opens it and its first prompt: the standing text by goose's own
 * method, the mode in which the agent asks before it acts, and what the operator wishes: mode, model, effort, in that
 * order, as what there is of one may hang on the one before.
 */
import type { Waited } from '../model/index.ts';
import { METHOD_NOT_FOUND } from './frames.ts';
import type { Members } from './frames.ts';
import type { SystemPromptForm } from './handshake.ts';
import type { RefusedSetting, SessionSettings, SettingChange, SettingName, WishedSettings } from './ports.ts';
import type { CallResult } from './sdk-client.ts';
import { currentOf, offeredFor } from './session-settings.ts';

const GOOSE_PROMPT_METHOD = '_goose/unstable/session/system-prompt/set';
/** Under which name goose keeps the text, so that another set replaces it. */
const GOOSE_KEY = 'skep';
const ORDER: readonly SettingName[] = ['mode', 'model', 'effort'];

interface SetupParts {
  /** One request, waited for in bounded time. */
  readonly ask: (method: string, params: Members) => Promise<Waited<CallResult>>;
  readonly change: (sessionId: string, setting: SettingName, value: string) => Promise<SettingChange>;
  readonly settings: (sessionId: string) => SessionSettings | undefined;
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

  /** Resolves with the wishes that were not granted; an operator's mode takes the place of the profile's. */
  async settle(sessionId: string, wished: WishedSettings): Promise<readonly RefusedSetting[]> {
    const { startMode, onNotAsking } = this.#parts;
    if (startMode !== undefined && wished.mode === undefined) {
      const refused = await this.#choose(sessionId, 'mode', startMode);
      if (refused !== undefined) onNotAsking(refused.offered.includes(startMode) ? refused.detail : notOffered(refused));
    }
    const refusals: RefusedSetting[] = [];
    for (const setting of ORDER) {
      const value = wished[setting];
      const refused = value === undefined ? undefined : await this.#choose(sessionId, setting, value);
      if (refused !== undefined) refusals.push(refused);
    }
    return refusals;
  }

  async #choose(sessionId: string, setting: SettingName, value: string): Promise<RefusedSetting | undefined> {
    const settings = this.#parts.settings(sessionId);
    if (currentOf(settings, setting) === value) return undefined;
    const change = await this.#parts.change(sessionId, setting, value);
    // A process that has ended is told by whatever is asked of it next.
    if (change.ok || change.code === 'process_ended') return undefined;
    return { setting, value, offered: offeredFor(settings, setting), detail: change.detail };
  }
}

function notOffered({ setting, value, offered }: RefusedSetting): string {
  return `the session does not offer the ${setting} ${value}${offered.length === 0 ? '' : `; it offers ${offered.join(', ')}`}`;
}
