/** Every text of a fixture that came from outside, and every pubkey it names: what a secret is looked for in, and whose. */
import type { OperatorTurnInput, TurnEvent, TurnInput } from '../../compiler/index.ts';
import type { StreamFixture } from '../replay/index.ts';

export interface Told {
  readonly texts: readonly string[];
  readonly people: ReadonlySet<string>;
}

export function toldInTurn(input: TurnInput): Told {
  const { events, interrupted, history, profiles = {}, standing = {}, channel } = input;
  const all = [...events, ...(interrupted?.events ?? [])].map(({ event }) => event);
  const messages = history?.messages ?? [];
  return {
    texts: [
      ...all.flatMap(textsOf), ...messages.map(({ content }) => content), ...Object.values<string>({ ...standing }),
      ...Object.values(profiles).flatMap(({ displayName = '', nip05 = '' }) => [displayName, nip05]),
      channel?.name ?? '', channel?.description ?? '',
    ],
    people: new Set([...all.flatMap(peopleOf), ...messages.map(({ pubkey }) => pubkey), ...Object.keys(profiles)]),
  };
}

/** It names nobody. */
export function toldInOperatorTurn({ prompt, standing = {} }: OperatorTurnInput): readonly string[] {
  return [prompt, ...Object.values<string>({ ...standing })];
}

export function toldInStream({ settings, steps }: Pick<StreamFixture, 'settings' | 'steps'>): Told {
  const texts: string[] = [];
  const people = new Set<string>([settings.agent, settings.owner, ...settings.allowlist, ...(settings.ancestors ?? [])]);
  for (const step of steps) {
    if (step.do === 'arrive') {
      texts.push(...textsOf(step.event));
      for (const pubkey of [...peopleOf(step.event), step.author.owner ?? '']) people.add(pubkey);
    }
    if (step.do === 'finish') texts.push(step.ending.how === 'done' ? step.ending.outcome : step.ending.reason);
  }
  return { texts, people };
}

function textsOf({ content, tags }: Pick<TurnEvent, 'content' | 'tags'>): readonly string[] {
  return [content, ...tags.flat()];
}

function peopleOf({ pubkey, tags }: Pick<TurnEvent, 'pubkey' | 'tags'>): readonly string[] {
  return [pubkey, ...tags.flatMap((tag) => (tag[0] === 'p' && tag[1] !== undefined ? [tag[1].toLowerCase()] : []))];
}
