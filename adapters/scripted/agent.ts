/**
 * The agent: what each method of ACP version 1 does, by the script.
 * in: requests and notifications of the client. out: answers, and turns that play rules. Sessions run beside each
 * other; within one session a second prompt is refused while the first is unanswered. It has no tools of its own and
 * touches nothing but what a script's steps name.
 */
import { isAbsolute } from 'node:path';
import { asText, isList, isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import { sleep } from './pause.ts';
import type { Handlers } from './peer.ts';
import { keepsSessions } from './read-script.ts';
import { rulebook } from './rulebook.ts';
import type { OnSteer, RpcError, Script } from './script.ts';
import { choose as chooseSetting, firstChosen } from './settings.ts';
import type { Chosen } from './settings.ts';
import type { Outside } from './stage.ts';
import { isSteering, steer } from './steer.ts';
import { promptsIn, transcript } from './transcript.ts';
import { startTurn } from './turn.ts';
import type { Turn } from './turn.ts';
import { variablesOf } from './variables.ts';

interface Session {
  readonly id: string;
  readonly cwd: string;
  readonly system: string;
  turn: Turn | undefined;
  isBusy: boolean;
  chosen: Chosen;
  prompts: number;
}

type Params = Members;

/** The codes ACP agents use: JSON-RPC's own, and -32002 for a session nobody knows. */
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;

export function agent(script: Script, outside: Outside): Handlers {
  const { peer } = outside;
  const sessions = new Map<string, Session>();
  const kept = keepsSessions(script) ? transcript(outside.gates) : undefined;
  const rules = rulebook(script.rules, outside.gates.claim);
  let isInitialized = false;
  let prompts = 0;

  const refuse = (id: Json, code: number, message: string): Promise<void> =>
    peer.refuse(id, { code, message, data: undefined });

  const open = (id: string, params: Params): Session => {
    const session: Session = { id, cwd: asText(params['cwd']), system: systemPrompt(params), turn: undefined, isBusy: false, chosen: firstChosen(script.newSession), prompts: 0 };
    sessions.set(id, session);
    kept?.begin(id);
    return session;
  };

  const offer = (): Members => {
    const { modes, models, configOptions } = script.newSession;
    return {
      ...(modes === undefined ? {} : { modes }),
      ...(models === undefined ? {} : { models }),
      ...(configOptions === undefined ? {} : { configOptions }),
    };
  };

  const initialize = async (id: Json): Promise<void> => {
    const { initialize: said, newSession } = script;
    if (said.never) return;
    if (said.delayMs > 0) await sleep(said.delayMs, NEVER);
    if (said.dieBefore !== undefined) return outside.die(said.dieBefore);
    if (said.error !== undefined) return peer.refuse(id, said.error);
    isInitialized = true;
    return peer.respond(id, {
      protocolVersion: said.protocolVersion,
      agentCapabilities: said.capabilities ?? capabilities(newSession.systemPrompt, script),
      agentInfo: said.agentInfo ?? { name: 'skep-scripted', title: 'Scripted agent', version: '1' },
      authMethods: said.authMethods,
      ...(said.meta === undefined ? {} : { _meta: said.meta }),
    });
  };

  const newSession = async (id: Json, params: Params): Promise<void> => {
    const { newSession: said } = script;
    if (!isInitialized) return refuse(id, INVALID_REQUEST, 'initialize comes first');
    const { cwd, mcpServers } = params;
    const isUsable = typeof cwd === 'string' && isAbsolute(cwd);
    if (!isUsable) return refuse(id, INVALID_PARAMS, 'cwd: expected an absolute path');
    if (!isList(mcpServers)) return refuse(id, INVALID_PARAMS, 'mcpServers: expected a list');
    if (said.never) return;
    if (said.error !== undefined) return peer.refuse(id, said.error);
    const session = open(`session-${outside.newId()}`, params);
    for (const update of said.before) await peer.notify('session/update', { sessionId: session.id, update });
    await peer.respond(id, { sessionId: session.id, ...offer() });
    for (const update of said.after) await peer.notify('session/update', { sessionId: session.id, update });
  };

  const prompt = async (id: Json, params: Params): Promise<void> => {
    const session = sessions.get(asText(params['sessionId']));
    if (session === undefined) return refuse(id, RESOURCE_NOT_FOUND, 'sessionId: no such session');
    const blocks = params['prompt'];
    if (!isList(blocks)) return refuse(id, INVALID_PARAMS, 'prompt: expected a list of content blocks');
    if (session.isBusy) return refuse(id, INVALID_REQUEST, 'this session is still answering a prompt');
    session.isBusy = true;
    prompts += 1;
    session.prompts += 1;
    const { cwd, system } = session;
    const texts = blocks.flatMap(textOf);
    kept?.prompted(session.id, texts.join('\n'));
    const variables = variablesOf({
      blocks: texts,
      sessionId: session.id,
      cwd,
      system,
      ...session.chosen,
      turns: session.prompts,
      pid: outside.pid,
      number: prompts,
    });
    const steps = rules.choose(variables);
    if (steps === undefined) await outside.stderr.write('scripted agent: no rule matches this prompt\n');
    session.turn = startTurn({
      outside: kept === undefined ? outside : { ...outside, peer: kept.through(session.id, peer) },
      sessionId: session.id,
      variables,
      steps: steps ?? [],
      onCancel: script.onCancel,
      answer: async (answer) => {
        session.isBusy = false;
        if (answer.type === 'error') await peer.refuse(id, answer.error);
        else await peer.respond(id, answer.result);
      },
    });
  };

  const other = async (id: Json, method: string, params: Params): Promise<void> => {
    const answer = script.answers.get(method);
    if (answer === undefined) return own(id, method, params);
    if (answer.type === 'never') return;
    if (answer.type === 'die') return outside.die(answer.ending);
    if (answer.type === 'error') return peer.refuse(id, answer.error);
    // A session that a script says it can load or resume is one it can be prompted in.
    const sessionId = params['sessionId'];
    if (OPENING.has(method) && typeof sessionId === 'string') open(sessionId, params);
    return peer.respond(id, answer.result);
  };

  const own = (id: Json, method: string, params: Params): Promise<void> => {
    const { load, resume, close } = script.sessions;
    if (method === 'session/load' && load) return reopen(id, params, true);
    if (method === 'session/resume' && resume) return reopen(id, params, false);
    if (method === 'session/close' && close) return closeSession(id, params);
    if (script.onSteer !== undefined && isSteering(method)) return steered(id, method, params, script.onSteer);
    return choose(id, method, params);
  };

  /** A session that was begun in this process or in one before it; what was said in it is sent again before the answer. */
  const reopen = async (id: Json, params: Params, replays: boolean): Promise<void> => {
    const sessionId = asText(params['sessionId']);
    const said = kept?.of(sessionId);
    if (said === undefined) return refuse(id, RESOURCE_NOT_FOUND, 'sessionId: no such session');
    if (!isList(params['mcpServers'])) return refuse(id, INVALID_PARAMS, 'mcpServers: expected a list');
    open(sessionId, params).prompts = promptsIn(said);
    if (replays) for (const update of said) await peer.notify('session/update', { sessionId, update });
    return peer.respond(id, offer());
  };

  const closeSession = async (id: Json, params: Params): Promise<void> => {
    const session = sessions.get(asText(params['sessionId']));
    if (session === undefined) return refuse(id, RESOURCE_NOT_FOUND, 'sessionId: no such session');
    sessions.delete(session.id);
    await session.turn?.cancel();
    return peer.respond(id, {});
  };

  const steered = async (id: Json, method: string, params: Params, onSteer: OnSteer): Promise<void> => {
    const session = sessions.get(asText(params['sessionId']));
    if (session === undefined) return refuse(id, RESOURCE_NOT_FOUND, 'sessionId: no such session');
    const blocks = params['prompt'];
    if (!isList(blocks)) return refuse(id, INVALID_PARAMS, 'prompt: expected a list of content blocks');
    return steer(id, blocks.flatMap(textOf), { method, outside, onSteer, turn: session.turn });
  };

  const choose = async (id: Json, method: string, params: Params): Promise<void> => {
    const session = sessions.get(asText(params['sessionId']));
    const choice = chooseSetting(script.newSession, session?.chosen ?? firstChosen(script.newSession), method, params);
    if (choice.is === 'unknown') return refuse(id, METHOD_NOT_FOUND, `method not found: ${method}`);
    if (choice.is === 'refused') return refuse(id, INVALID_PARAMS, choice.message);
    if (session === undefined) return refuse(id, RESOURCE_NOT_FOUND, 'sessionId: no such session');
    session.chosen = choice.chosen;
    return peer.respond(id, choice.result);
  };

  const answered = (id: Json, method: string, params: Params): Promise<void> => {
    switch (method) {
      case 'initialize':
        return initialize(id);
      case 'session/new':
        return newSession(id, params);
      case 'session/prompt':
        return prompt(id, params);
      default:
        return other(id, method, params);
    }
  };

  return {
    request: (id, method, params) => {
      answered(id, method, isMembers(params) ? params : {}).catch((error: unknown) => {
        const refusal: RpcError = { code: -32603, message: String(error), data: undefined };
        void peer.refuse(id, refusal);
      });
    },
    notification: (method, params) => {
      if (method !== 'session/cancel' || !isMembers(params)) return;
      void sessions.get(asText(params['sessionId']))?.turn?.cancel();
    },
  };
}

const NEVER = new AbortController().signal;
const OPENING: ReadonlySet<string> = new Set(['session/load', 'session/resume']);

function capabilities(systemPrompt: boolean, { sessions: { load, resume, close } }: Script): Members {
  const offered: Members = { ...(systemPrompt && { systemPrompt: {} }), ...(resume && { resume: {} }), ...(close && { close: {} }) };
  return {
    loadSession: load,
    promptCapabilities: {},
    ...(Object.keys(offered).length > 0 && { sessionCapabilities: offered }),
  };
}

function textOf(block: Json): readonly string[] {
  return isMembers(block) && block['type'] === 'text' ? [asText(block['text'])] : [];
}

/** The standing text, in any of the forms that clients send: content blocks, a string, or `_meta` append. */
function systemPrompt(params: Params): string {
  const meta = params['_meta'];
  const given = params['systemPrompt'] ?? (isMembers(meta) ? meta['systemPrompt'] : undefined);
  if (!isMembers(given)) return asText(given);
  const { append, content } = given;
  if (append !== undefined) return asText(append);
  return isList(content) ? content.map((block) => (isMembers(block) ? asText(block['text']) : '')).join('\n') : '';
}
