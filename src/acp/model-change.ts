/** The choice of a session's model: what is asked of the agent for it, and what its answer means. */
import type { Waited } from '../model/index.ts';
import type { Members } from './frames.ts';
import type { ModelChange, SessionRefused } from './ports.ts';
import type { CallResult } from './sdk-client.ts';
import type { SessionBook } from './session-book.ts';
import { modelRequest, modelRoute } from './session-settings.ts';

export interface ModelAsk {
  readonly sessions: SessionBook;
  /** One request, waited for in bounded time. */
  readonly ask: (method: string, params: Members) => Promise<Waited<CallResult>>;
  /** What the end of the process means for a request. */
  readonly closed: () => Extract<SessionRefused, { readonly code: 'process_ended' }>;
  /** An agent's words, fit to be shown. */
  readonly detail: (message: string) => string;
}

export async function changeModel(sessionId: string, modelId: string, { sessions, ask, closed, detail }: ModelAsk): Promise<ModelChange> {
  const route = modelRoute(sessions.settings(sessionId) ?? { configOptions: [] }, modelId);
  if (route === undefined) return { ok: false, code: 'unsupported', detail: 'the agent does not offer that model' };
  const waited = await ask(...modelRequest(sessionId, route, modelId));
  if (waited.status === 'late') return { ok: false, code: 'timeout', detail: 'the choice of a model: no answer in time' };
  switch (waited.value.status) {
    case 'closed':
      return closed();
    case 'error':
      return { ok: false, code: 'unsupported', detail: detail(waited.value.message) };
    case 'result':
      sessions.chosen(sessionId, route, modelId);
      return { ok: true };
  }
}
