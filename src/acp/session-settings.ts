/**
 * What can be chosen in a session, as the agent told it: configuration options, models, modes. Read member by member and
 * leniently, because agents differ; what has another form is left out. Only ids are kept, and a bounded number of them.
 * As Buzz chooses a model: an option of its category first, the older list where there is none.
 */
import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import { isMembers } from './frames.ts';
import type { Members } from './frames.ts';
import type { Choice, ConfigOption, SessionSettings, SettingName } from './ports.ts';

const MAX_OPTIONS = 32;
const MAX_VALUES = 256;
/** Characters of an id; a longer one is none that anybody chooses. */
const MAX_ID = 200;

/** Of the answer to `session/new`, `session/load` or `session/resume`. */
export function readSettings(result: unknown): SessionSettings {
  if (!isMembers(result)) return NO_SETTINGS;
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

/** How a value is chosen in a session. */
export type SettingRoute = { readonly by: 'config_option'; readonly configId: string } | { readonly by: 'set_model' } | { readonly by: 'set_mode' };

export const NO_SETTINGS: SessionSettings = { configOptions: [] };

/** ACP's words for them (`SessionConfigOptionCategory`). */
const CATEGORIES: Readonly<Record<SettingName, string>> = { model: 'model', mode: 'mode', effort: 'thought_level' };

/** Undefined where the agent does not offer the value. Options go before the older lists: agents that have both speak of the same thing. */
export function routeTo(settings: SessionSettings, setting: SettingName, value: string): SettingRoute | undefined {
  const option = settings.configOptions.find(({ category, values }) => category === CATEGORIES[setting] && values.includes(value));
  if (option !== undefined) return { by: 'config_option', configId: option.id };
  const older = olderList(settings, setting);
  return older?.choice.values.includes(value) === true ? { by: older.by } : undefined;
}

/** No part of ACP's schema any more; several agents have nothing else. */
export const SET_MODEL = 'session/set_model';

export function settingRequest(sessionId: string, route: SettingRoute, value: string): [method: string, params: Members] {
  switch (route.by) {
    case 'set_model':
      return [SET_MODEL, { sessionId, modelId: value }];
    case 'set_mode':
      return [AGENT_METHODS.session_set_mode, { sessionId, modeId: value }];
    case 'config_option':
      return [AGENT_METHODS.session_set_config_option, { sessionId, configId: route.configId, value }];
  }
}

/** What the agent says it uses in the session. */
export function currentOf(settings: SessionSettings | undefined, setting: SettingName): string | undefined {
  if (settings === undefined) return undefined;
  return settings.configOptions.find(({ category }) => category === CATEGORIES[setting])?.current ?? olderList(settings, setting)?.choice.current;
}

/** What there is to choose from, the options first; bounded as it was read. */
export function offeredFor(settings: SessionSettings | undefined, setting: SettingName): readonly string[] {
  if (settings === undefined) return [];
  const options = settings.configOptions.filter(({ category }) => category === CATEGORIES[setting]);
  return options.length > 0 ? options.flatMap(({ values }) => values) : olderList(settings, setting)?.choice.values ?? [];
}

/** After the agent took the value: what it says of it is in an update, or never comes. */
export function withChosen(settings: SessionSettings, route: SettingRoute, value: string): SessionSettings {
  switch (route.by) {
    case 'set_model':
      return settings.models === undefined ? settings : { ...settings, models: { ...settings.models, current: value } };
    case 'set_mode':
      return settings.modes === undefined ? settings : { ...settings, modes: { ...settings.modes, current: value } };
    case 'config_option':
      return { ...settings, configOptions: settings.configOptions.map((one) => (one.id === route.configId ? { ...one, current: value } : one)) };
  }
}

function olderList({ models, modes }: SessionSettings, setting: SettingName): { readonly by: 'set_model' | 'set_mode'; readonly choice: Choice } | undefined {
  switch (setting) {
    case 'model':
      return models && { by: 'set_model', choice: models };
    case 'mode':
      return modes && { by: 'set_mode', choice: modes };
    case 'effort':
      return undefined;
  }
}

/** Some agents call the key of an option `configId` or `key`, the schema of ACP calls it `id`. */
function readOption(value: unknown): ConfigOption | undefined {
  if (!isMembers(value)) return undefined;
  const { configId, id, key, category, currentValue, options } = value;
  const name = asId(configId) ?? asId(id) ?? asId(key);
  if (name === undefined) return undefined;
  const current = asId(currentValue);
  return {
    id: name,
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
