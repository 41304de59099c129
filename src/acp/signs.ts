/**
 * Signs in an agent's updates that its profile knows: a failure told by the way, a remark that is none of the model's
 * words. Compared member by member; what is not exactly there is no sign.
 */
import type { UpdateSign } from '../../adapters/index.ts';
import { isMembers } from './frames.ts';

export function shows(update: unknown, signs: readonly UpdateSign[] = []): boolean {
  return signs.some((sign) => wordAt(update, sign) === sign.value);
}

/** True or false where the update says which; undefined where it says nothing of it. */
export function fails(update: unknown, signs: readonly UpdateSign[] = []): boolean | undefined {
  const words = signs.flatMap((sign) => {
    const word = wordAt(update, sign);
    return word === undefined ? [] : [word === sign.value];
  });
  return words.length === 0 ? undefined : words.includes(true);
}

function wordAt(update: unknown, { update: kind, path }: UpdateSign): string | undefined {
  if (!isMembers(update) || update['sessionUpdate'] !== kind) return undefined;
  const found = path.reduce<unknown>((value, name) => (isMembers(value) ? value[name] : undefined), update);
  return typeof found === 'string' ? found : undefined;
}
