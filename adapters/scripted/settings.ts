/**
 * What can be chosen in a session, as `newSession` of a script offers it: model, mode and effort, by a configuration
 * option of their category (`model`, `mode`, `thought_level`), models and modes also by the older lists.
 * in: the offer, a request for another value. out: what is chosen then, or why it is not. What a script says in `answers`
 * comes before this.
 */
import { asText, isList, isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import type { NewSession } from './script.ts';

/** '' where nothing is offered. */
export interface Chosen {
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
}

export type Choice =
  | { readonly is: 'chosen'; readonly chosen: Chosen; readonly result: Json }
  | { readonly is: 'refused'; readonly message: string }
  /** The method is not offered. */
  | { readonly is: 'unknown' };

const CATEGORIES: readonly (readonly [category: string, setting: keyof Chosen])[] = [
  ['model', 'model'], ['mode', 'mode'], ['thought_level', 'effort'],
];

/** What a new session is set to. */
export function firstChosen({ models, modes, configOptions }: NewSession): Chosen {
  const options = optionsIn(configOptions);
  const current = (category: string, older: Json | undefined, name: string): string => {
    const option = options.find((one) => one['category'] === category);
    return asText(option?.['currentValue']) || asText(isMembers(older) ? older[name] : undefined);
  };
  return {
    model: current('model', models, 'currentModelId'), mode: current('mode', modes, 'currentModeId'), effort: current('thought_level', undefined, ''),
  };
}

export function choose(offer: NewSession, chosen: Chosen, method: string, params: Members): Choice {
  switch (method) {
    case 'session/set_model':
      return ofList(offer.models, 'availableModels', 'modelId', params, (model) => ({ ...chosen, model }));
    case 'session/set_mode':
      return ofList(offer.modes, 'availableModes', 'id', { id: params['modeId'] ?? '' }, (mode) => ({ ...chosen, mode }));
    case 'session/set_config_option':
      return ofOptions(optionsIn(offer.configOptions), chosen, params);
    default:
      return { is: 'unknown' };
  }
}

function ofList(offer: Json | undefined, list: string, name: string, params: Members, change: (value: string) => Chosen): Choice {
  if (!isMembers(offer)) return { is: 'unknown' };
  const value = asText(params[name]);
  return idsIn(offer[list], name).includes(value) ? { is: 'chosen', chosen: change(value), result: {} } : refused(value);
}

function ofOptions(options: readonly Members[], before: Chosen, params: Members): Choice {
  const option = options.find((one) => asText(one['configId'] ?? one['id']) === asText(params['configId']));
  if (option === undefined) return { is: 'unknown' };
  const value = asText(params['value']);
  if (!idsIn(option['options'], 'value').includes(value)) return refused(value);
  const setting = settingOf(option);
  const chosen = setting === undefined ? before : { ...before, [setting]: value };
  const configOptions = options.map((one) => {
    const own = settingOf(one);
    return { ...one, currentValue: one === option ? value : own === undefined ? one['currentValue'] ?? '' : chosen[own] };
  });
  return { is: 'chosen', chosen, result: { configOptions } };
}

function settingOf(option: Members): keyof Chosen | undefined {
  return CATEGORIES.find(([category]) => category === option['category'])?.[1];
}

function refused(value: string): Choice {
  return { is: 'refused', message: `no such value: ${value}` };
}

function optionsIn(value: Json | undefined): readonly Members[] {
  return isList(value) ? value.filter(isMembers) : [];
}

function idsIn(list: Json | undefined, name: string): readonly string[] {
  return isList(list) ? list.flatMap((one) => (isMembers(one) ? [asText(one[name])] : [])) : [];
}
