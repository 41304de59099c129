/** Live signals as tools: presence, typing, telemetry, signs of life. NIP-BA "Live signals": all of them best effort. */
import { z } from 'zod';
import { channelId, scalar } from './fields.ts';
import { given, tool } from './tool.ts';
import type { Tool } from './tool.ts';

export const SIGNAL_TOOLS: readonly Tool[] = [
  tool({
    action: 'presence.set',
    title: 'Show whether you are there',
    description: 'Show yourself as online, away or offline. Rarely needed.',
    effect: 'replaces',
    input: z.strictObject({ status: z.enum(['online', 'away', 'offline']) }),
    args: given,
    told: (_outcome, { status }) => [`You are shown as ${status}.`],
  }),
  tool({
    action: 'typing.set',
    title: 'Show that you are writing',
    description: 'Show in a channel that you are writing; it ends by itself after some seconds. For long work only.',
    effect: 'adds',
    input: z.strictObject({ channelId }),
    args: given,
    told: () => ['Shown.'],
  }),
  tool({
    action: 'observer.emit',
    title: 'Tell your owner what you are doing',
    description:
      'Send frames of telemetry to your owner alone, encrypted; not a message, and nobody answers. For programs that ' +
      'run agents; to tell somebody something use message_post.',
    effect: 'adds',
    input: z.strictObject({
      frames: z.array(z.strictObject({
        kind: scalar('What sort of frame it is.'),
        payload: z.string().describe('Opaque text.').meta({ minLength: 1, maxLength: 65_535 }),
      })).min(1).max(256),
    }),
    args: given,
    told: ({ accepted }, { frames }) => [`${accepted} of ${frames.length} frames taken. Do not send any of them again.`],
  }),
  tool({
    action: 'liveness.ping',
    title: 'Say that your turn goes on',
    description: 'Say that a long turn is still at work. The turnId stands in your turn.',
    effect: 'adds',
    input: z.strictObject({ channelId, turnId: scalar('The id of your turn.') }),
    args: given,
    told: () => ['Noted.'],
  }),
];
