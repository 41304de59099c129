/** What an agent told of itself in its answers to initialize and session/new, read member by member. Pure. */
type Members = Readonly<Record<string, unknown>>;

/** Lists are empty where nothing was told. */
export interface Facts {
  readonly program: string;
  readonly load: boolean;
  readonly resume: boolean;
  readonly close: boolean;
  readonly prompt: readonly string[];
  readonly mcp: readonly string[];
  readonly steering: boolean;
  readonly systemPrompt: boolean;
  readonly logins: readonly string[];
  readonly mode?: string;
  readonly modes: readonly string[];
  readonly model?: string;
  readonly models: readonly string[];
  readonly effort?: string;
  readonly efforts: readonly string[];
}

export function readFacts(initialized: unknown, session: unknown): Facts {
  const { agentInfo, agentCapabilities, authMethods, _meta: meta } = members(initialized);
  const { name, version } = members(agentInfo);
  const { loadSession, promptCapabilities, mcpCapabilities, sessionCapabilities } = members(agentCapabilities);
  const capabilities = members(sessionCapabilities);
  const { modes, models } = members(session);
  const mode = choices(session, 'mode', members(modes)['availableModes'], 'id', members(modes)['currentModeId']);
  const model = choices(session, 'model', members(models)['availableModels'], 'modelId', members(models)['currentModelId']);
  const effort = choices(session, 'thought_level', undefined, '', undefined);
  return {
    program: [name, version].filter((word) => typeof word === 'string' && word !== '').join(' '),
    load: loadSession === true,
    resume: isOffered(capabilities['resume']),
    close: isOffered(capabilities['close']),
    systemPrompt: isOffered(capabilities['systemPrompt']),
    prompt: offered(promptCapabilities),
    mcp: offered(mcpCapabilities),
    steering: members(members(meta)['steering'])['supported'] === true,
    logins: texts(list(authMethods).map((method) => members(method)['id'])),
    ...(mode.current === undefined ? {} : { mode: mode.current }),
    modes: mode.all,
    ...(model.current === undefined ? {} : { model: model.current }),
    models: model.all,
    ...(effort.current === undefined ? {} : { effort: effort.current }),
    efforts: effort.all,
  };
}

/** A config option goes before the older lists: agents that have both speak of the same thing. */
function choices(session: unknown, category: string, older: unknown, id: string, current: unknown): { readonly current?: string; readonly all: readonly string[] } {
  const option = list(members(session)['configOptions']).map(members).find((one) => one['category'] === category);
  const all = option === undefined ? texts(list(older).map((one) => members(one)[id])) : valuesOf(option['options']);
  const now = option === undefined ? current : option['currentValue'];
  return { ...(typeof now === 'string' ? { current: now } : {}), all };
}

/** Options may stand in groups. */
function valuesOf(options: unknown): readonly string[] {
  return list(options).map(members).flatMap((one) => ('options' in one ? valuesOf(one['options']) : texts([one['value']])));
}

function offered(capabilities: unknown): readonly string[] {
  return Object.entries(members(capabilities)).filter(([, value]) => isOffered(value)).map(([name]) => name);
}

function isOffered(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null);
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function members(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
