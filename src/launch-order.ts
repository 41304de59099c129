/** What an agent of `skep.yaml` is to be started with, as `src/persona` is asked for it. A part of the composition root. */
import type { AgentConfig } from './config/index.ts';
import type { LaunchOrder } from './persona/index.ts';

/** Undefined where the config says all, and nothing is read from the relay. An override's source is shown to the owner. */
export function launchOrder({ name, pubkey, instructions, wished: { model }, launch }: Pick<AgentConfig, 'name' | 'pubkey' | 'instructions' | 'wished' | 'launch'>): LaunchOrder | undefined {
  if (launch === undefined) return undefined;
  const { persona, teams, teamInstructions } = launch;
  const source = (member: string): string => `skep.yaml: agents.${name}.${member}`;
  return {
    agent: pubkey, persona, teams,
    overrides: {
      ...(instructions === undefined ? {} : { own: { text: instructions, source: source('instructions') } }),
      ...(teamInstructions === undefined ? {} : { team: { text: teamInstructions, source: source('team-instructions') } }),
      ...(model === undefined ? {} : { model: { text: model, source: source('model') } }),
    },
  };
}
