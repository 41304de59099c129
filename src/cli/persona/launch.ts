/** `skep launch plan`: what an agent would be started with now, and from where, or why it would not be. Starts nothing. */
import type { Command } from 'commander';
import { loadConfig } from '../../config/index.ts';
import type { AgentConfig } from '../../config/index.ts';
import { launchOrder } from '../../launch-order.ts';
import { Failure } from '../../model/index.ts';
import type { Pubkey } from '../../model/index.ts';
import { launchFacts, planLaunch } from '../../persona/index.ts';
import type { LaunchOrder, TeamFacts } from '../../persona/index.ts';
import { agentNamedIn } from '../agent-named.ts';
import { programOf } from '../doctor/place.ts';
import { CONFIG, placeOptions } from '../owner-open.ts';
import { jsonLine } from '../owner-text.ts';
import { print, safe } from '../print.ts';
import { doesStart, planJson, planLines } from './launch-view.ts';
import type { PlanView } from './launch-view.ts';
import { asPersonas, failureOf } from './open.ts';
import type { PersonaFlags, Personas } from './open.ts';
import { madeOf } from './subject.ts';

export function launchVerb(program: Command): void {
  const launch = program.command('launch').description('what an agent would be started with, and from where');
  placeOptions(launch.command('plan').description('the layers of an agent\'s next start, its teams, its program, or why it would be refused; starts nothing'))
    .argument('<agent>', 'one of the config: its name, its npub or hex')
    .addHelpText('after', '\nExit codes: 0 it would start, 1 it would not, or the relay does not answer, 2 there is no such agent, or the config cannot be used')
    .action(plan);
}

async function plan(name: string, flags: PersonaFlags): Promise<void> {
  const config = loadConfig(flags.config ?? CONFIG);
  const agent = agentNamedIn(config.agents, name);
  if (agent === undefined) throw new Failure('usage', `launch plan: no agent "${safe(name)}"; there are ${config.agents.map((one) => one.name).join(', ')}`);
  const order = launchOrder(agent);
  const said = order === undefined ? { by: 'config' } as const : await asPersonas(flags, (personas) => onRelay(personas, { agent, order }));
  const view: PlanView = { agent, program: programOf(agent), said };
  if (flags.json === true) print(jsonLine(planJson(view)));
  else for (const line of planLines(view)) print(line);
  if (!doesStart(view)) process.exitCode = 1;
}

interface Ordered {
  readonly agent: AgentConfig;
  readonly order: LaunchOrder;
}

async function onRelay(personas: Personas, { agent, order }: Ordered): Promise<PlanView['said']> {
  if (agent.owner !== personas.key.pubkey) throw new Failure('usage', `launch plan: ${safe(agent.name)} belongs to another owner than the one of --key`);
  const planning = await planLaunch(personas, order);
  if (planning.ok) return { by: 'relay', plan: planning.plan };
  // Where nothing is known there is nothing to plan.
  if (planning.code === 'unavailable') throw failureOf(planning);
  return { by: 'nobody', refusal: planning, teams: await teamsOf(personas, agent.pubkey, order) };
}

/** A refusal names its teams; what each says is shown beside it. */
async function teamsOf(personas: Personas, agent: Pubkey, { teams }: LaunchOrder): Promise<readonly TeamFacts[]> {
  const facts = await launchFacts(personas, await madeOf(personas, agent), teams);
  return facts.ok ? facts.facts.teams : [];
}

