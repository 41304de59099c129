/** The choice of a session's model, mode or effort: what is asked of the agent for it, and what its answer means. */
import type { Waited } from '../model/index.ts';
import { isMembers } from './frames.ts';
import type { Members } from './frames.ts';
import type { SessionRefused, SettingChange, SettingName } from './ports.ts';
import type { CallResult } from './sdk-client.ts';
import type { SessionBook } from './session-book.ts';
import { NO_SETTINGS, readConfigOptions, routeTo, settingRequest } from './session-settings.ts';

export interface SettingAsk {
  readonly sessions: SessionBook;
  /** One request, waited for in bounded time. */
  readonly ask: (method: string, params: Members) => Promise<Waited<CallResult>>;
  /** What the end of the process means for a request. */
  readonly closed: () => Extract<SessionRefused, { readonly code: 'process_ended' }>;
  /** An agent's words, fit to be shown. */
  readonly detail: (message: string) => string;
}

export interface WantedSetting {
  readonly sessionId: string;
  readonly setting: SettingName;
  readonly value: string;
}

/** Nothing is asked of the agent that it does not offer: some take any word, and say nothing of it. */
export async function changeSetting({ sessionId, setting, value }: WantedSetting, { sessions, ask, closed, detail }: SettingAsk): Promise<SettingChange> {
  const route = routeTo(sessions.settings(sessionId) ?? NO_SETTINGS, setting, value);
  if (route === undefined) return { ok: false, code: 'unsupported', detail: `the agent does not offer that ${setting}` };
  const waited = await ask(...settingRequest(sessionId, route, value));
  if (waited.status === 'late') return { ok: false, code: 'timeout', detail: `the choice of a ${setting}: no answer in time` };
  switch (waited.value.status) {
    case 'closed':
      return closed();
    case 'error':
      return { ok: false, code: 'unsupported', detail: detail(waited.value.message) };
    case 'result': {
      const { result } = waited.value;
      sessions.chosen(sessionId, route, value);
      // One choice may change what else there is: other efforts with another model.
      const configOptions = readConfigOptions(isMembers(result) ? result['configOptions'] : undefined);
      if (configOptions !== undefined) sessions.hear(sessionId, { type: 'options', configOptions });
      return { ok: true };
    }
  }
}
