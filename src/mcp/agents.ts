/** Managed agents as tools: create, change, delete. NIP-BA "Managed agents". */
import { z } from 'zod';
import { channelId, displayName, prompt, pubkey, respondTo, scalar } from './fields.ts';
import { inline } from './page-text.ts';
import { given, tool } from './tool.ts';
import type { Tool } from './tool.ts';

const choices = {
  runtime: scalar('The agent program; leave it out for the default.').optional(),
  provider: scalar('The model provider; leave it out for the default.').optional(),
  model: scalar('The model; leave it out for the default.').optional(),
  respondTo: respondTo.optional(),
};

const target = z
  .union([z.strictObject({ pubkey: pubkey('the agent') }), z.strictObject({ name: displayName })])
  .describe('Which of your agents: {"pubkey": ...}, or {"name": ...} where only one has that name.');

export const AGENT_TOOLS: readonly Tool[] = [
  tool({
    action: 'agents.create',
    title: 'Create an agent',
    description:
      'Create an agent of your own, with an identity of its own, in a channel. Only where you were asked to. Returns its ' +
      'public key, by which you mention, change or delete it. It may take a while before it answers.',
    effect: 'adds',
    reachesOut: true,
    input: z.strictObject({ channelId, displayName, systemPrompt: prompt, ...choices }),
    args: given,
    told: (outcome) => [
      `Created ${inline(outcome.displayName)}, public key ${outcome.agentPubkey}, in channel ${outcome.channelId}.`,
    ],
  }),
  tool({
    action: 'agents.update',
    title: 'Change an agent',
    description: 'Change an agent of your own. What you leave out stays as it is; give at least one thing to change.',
    effect: 'replaces',
    reachesOut: true,
    input: z.strictObject({ target, displayName: displayName.optional(), systemPrompt: prompt.optional(), ...choices }),
    args: given,
    told: ({ displayName: name, agentPubkey, updatedFields }) => {
      const changed = updatedFields.length === 0 ? 'nothing, it was so already' : updatedFields.join(', ');
      return [`Changed of ${inline(name)} (${agentPubkey}): ${changed}.`];
    },
  }),
  tool({
    action: 'agents.delete',
    title: 'Delete an agent',
    description: 'Delete an agent of your own. It cannot be brought back; what it has written stays.',
    effect: 'destroys',
    reachesOut: true,
    input: z.strictObject({ target }),
    args: given,
    told: ({ displayName: name, agentPubkey }) => [`Deleted ${inline(name)} (${agentPubkey}).`],
  }),
];
