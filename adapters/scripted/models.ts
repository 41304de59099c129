/**
 * Models as `newSession` of a script offers them: by a configuration option of category `model`, or by a list of models.
 * in: the offer, a request for another model. out: the model, or why there is none. What a script says in `answers`
 * comes before this.
 */
import { asText, isList, isMembers } from './json.ts';
import type { Json, Members } from './json.ts';
import type { NewSession } from './script.ts';

export type ModelChoice =
  | { readonly is: 'chosen'; readonly model: string; readonly result: Json }
  | { readonly is: 'refused'; readonly message: string }
  /** The method is not offered. */
  | { readonly is: 'unknown' };

/** The model of a new session, or ''. */
export function firstModel({ models, configOptions }: NewSession): string {
  const option = optionsIn(configOptions).find((one) => one['category'] === 'model');
  return asText(option?.['currentValue']) || asText(isMembers(models) ? models['currentModelId'] : undefined);
}

export function chooseModel(offer: NewSession, method: string, params: Members): ModelChoice {
  switch (method) {
    case 'session/set_model': {
      const { models } = offer;
      if (!isMembers(models)) return { is: 'unknown' };
      const model = asText(params['modelId']);
      return idsIn(models['availableModels'], 'modelId').includes(model) ? { is: 'chosen', model, result: {} } : refused(model);
    }
    case 'session/set_config_option': {
      const options = optionsIn(offer.configOptions);
      const option = options.find((one) => asText(one['configId'] ?? one['id']) === asText(params['configId']));
      if (option === undefined) return { is: 'unknown' };
      const model = asText(params['value']);
      if (!idsIn(option['options'], 'value').includes(model)) return refused(model);
      const configOptions = options.map((one) => (one === option ? { ...one, currentValue: model } : one));
      return { is: 'chosen', model, result: { configOptions } };
    }
    default:
      return { is: 'unknown' };
  }
}

function refused(model: string): ModelChoice {
  return { is: 'refused', message: `no such value: ${model}` };
}

function optionsIn(value: Json | undefined): readonly Members[] {
  return isList(value) ? value.filter(isMembers) : [];
}

function idsIn(list: Json | undefined, name: string): readonly string[] {
  return isList(list) ? list.flatMap((one) => (isMembers(one) ? [asText(one[name])] : [])) : [];
}
