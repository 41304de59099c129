/**
 * What can be chosen in a session, as the agent told it: configuration options, models, modes. Read member by member and
 * leniently, because agents differ; what has another form is left out. Only ids are kept, and a bounded number of them.
 * As Buzz chooses a model: an option of category `model` first, the list of models where there is none.
 */
import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import { isMembers } from './frames.ts';
import type { Members } from './frames.ts';
import type { Choice, ConfigOption, SessionSettings } from './ports.ts';

const MAX_OPTIONS = 32;
const MAX_VALUES = 256;
/** Characters of an id; a longer one is none that anybody chooses. */
const MAX_ID = 200;

/** Of the answer to `session/new`. */
export function readSettings(result: unknown): SessionSettings {
  if (!isMembers(result)) return { configOptions: [] };
  const models = readChoice(result['models'], 'availableModels', 'modelId', 'currentModelId');
  const modes = readChoice(result['modes'], 'availableModes', 'id', 'currentModeId');
  return {
    configOptions: readConfigOptions(result['configOptions']) ?? [],
    ...(models === undefined ? {} : { models }),
    ...(modes === undefined ? {} : { modes }),
  };
}

/** The options, or undefined where it is no list. */
export function readConfigOptions(value: unknown): readonly ConfigOption[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_OPTIONS).flatMap((one: unknown) => readOption(one) ?? []);
}

/** How `modelId` is chosen in the session; undefined where the agent does not offer it. */
export type ModelRoute = { readonly by: 'config_option'; readonly configId: string } | { readonly by: 'set_model' };

export function modelRoute({ configOptions, models }: SessionSettings, modelId: string): ModelRoute | undefined {
  const option = configOptions.find(({ category, values }) => category === 'model' && values.includes(modelId));
  if (option !== undefined) return { by: 'config_option', configId: option.id };
  return models?.values.includes(modelId) === true ? { by: 'set_model' } : undefined;
}

/** No part of ACP's schema any more; several agents have nothing else. */
export const SET_MODEL = 'session/set_model';

export function modelRequest(sessionId: string, route: ModelRoute, modelId: string): [method: string, params: Members] {
  return route.by === 'set_model'
    ? [SET_MODEL, { sessionId, modelId }]
    : [AGENT_METHODS.session_set_config_option, { sessionId, configId: route.configId, value: modelId }];
}

/** The model that the agent says it uses in the session. */
export function currentModel(settings: SessionSettings | undefined): string | undefined {
  return settings?.configOptions.find(({ category }) => category === 'model')?.current ?? settings?.models?.current;
}

/** After the agent took the model: what it says of it is in an update, or never comes. */
export function withModel(settings: SessionSettings, route: ModelRoute, modelId: string): SessionSettings {
  if (route.by === 'set_model') return settings.models === undefined ? settings : { ...settings, models: { ...settings.models, current: modelId } };
  const configOptions = settings.configOptions.map((one) => (one.id === route.configId ? { ...one, current: modelId } : one));
  return { ...settings, configOptions };
}

/** Some agents call the key of an option `configId`, the schema of ACP calls it `id`. */
function readOption(value: unknown): ConfigOption | undefined {
  if (!isMembers(value)) return undefined;
  const { configId, id, category, currentValue, options } = value;
  const key = asId(configId) ?? asId(id);
  if (key === undefined) return undefined;
  const current = asId(currentValue);
  return {
    id: key,
    ...(typeof category === 'string' ? { category } : {}),
    ...(current === undefined ? {} : { current }),
    values: idsIn(options, 'value'),
  };
}

function readChoice(value: unknown, list: string, id: string, currentName: string): Choice | undefined {
  if (!isMembers(value)) return undefined;
  const current = asId(value[currentName]);
  return { values: idsIn(value[list], id), ...(current === undefined ? {} : { current }) };
}

/** Values may stand in groups. */
function idsIn(list: unknown, name: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_VALUES).flatMap((one: unknown) => {
    if (!isMembers(one)) return [];
    return asId(one[name]) ?? (Array.isArray(one['options']) ? idsIn(one['options'], name) : []);
  }).slice(0, MAX_VALUES);
}

function asId(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID ? value : undefined;
}
