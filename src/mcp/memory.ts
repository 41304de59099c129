/** What an agent keeps and shows of itself, as tools: memory and profile. NIP-BA "Memory", "Channel and messages". */
import { z } from 'zod';
import { about, displayName, scalar, slug } from './fields.ts';
import { given, tool } from './tool.ts';
import type { Tool } from './tool.ts';

export const MEMORY_TOOLS: readonly Tool[] = [
  tool({
    action: 'storage.get',
    title: 'Read from your memory',
    description: 'Read one record of your own lasting memory, which only you and your owner can read.',
    effect: 'reads',
    input: z.strictObject({ slug }),
    args: given,
    told: ({ value }, input) => {
      if (value === undefined) return [`There is no record ${input.slug.trim()}.`];
      return value === '' ? [`The record ${input.slug.trim()} is empty.`] : [value];
    },
  }),
  tool({
    action: 'storage.put',
    title: 'Write to your memory',
    description:
      'Replace one record of your own lasting memory by a new text; the old text is gone. Read it first to add to it. ' +
      'There is no deleting and no empty text.',
    effect: 'replaces',
    input: z.strictObject({
      slug,
      value: z.string().describe('The whole new text.').meta({ minLength: 1, maxLength: 65_535 }),
    }),
    args: given,
    told: (_outcome, input) => [`Kept as ${input.slug.trim()}.`],
  }),
  tool({
    action: 'storage.address',
    title: 'Where a record of your memory is',
    description: 'The Nostr address of a record of your memory. You need it only if somebody asks for it.',
    effect: 'reads',
    input: z.strictObject({ slug }),
    args: given,
    told: ({ authorPubkey, kind, dTag }) => [`${kind}:${authorPubkey}:${dTag}`],
  }),
  tool({
    action: 'profile.set',
    title: 'Change your profile',
    description: 'Change the name, the few words or the picture others see of you. What you leave out stays as it is.',
    effect: 'replaces',
    reachesOut: true,
    input: z.strictObject({
      displayName: displayName.optional(),
      about: about.optional(),
      picture: scalar('The URL of a picture.').optional(),
    }),
    args: given,
    told: () => ['Your profile is changed.'],
  }),
];
