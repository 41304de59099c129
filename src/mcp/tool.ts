/**
 * One action as a tool: what a model is told of it, what it takes, how its outcome is told. The request is frozen once
 * for each call; its id and bytes are the client's to send again. The schema only describes: every bound is held by the
 * codec of the wire, whose refusals name the member.
 */
import type { CallToolResult, McpServer, StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ActionName, ArgsOf, BrokerClient, OutcomeOf, Succeeded } from '../broker/client/index.ts';
import { isOpen, toldEnding, toldResult } from './ending.ts';
import type { Pending } from './pending.ts';

export interface ToolDoors {
  readonly client: BrokerClient;
  readonly pending: Pending;
}

export interface Tool {
  readonly name: string;
  register(server: McpServer, doors: ToolDoors): void;
}

/** What a call of the tool may change; `destroys` is for what cannot be made good. */
type Effect = 'reads' | 'adds' | 'replaces' | 'destroys';

interface Definition<Name extends ActionName, Input> {
  readonly action: Name;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  /** It reaches beyond the channels that the agent is in and its own memory. */
  readonly reachesOut?: boolean;
  /** Needed in nearly every turn, so offered at once where an agent otherwise hides tools until they are looked for. */
  readonly isCore?: boolean;
  readonly input: StandardSchemaWithJSON<unknown, Input>;
  readonly args: (input: Input) => ArgsOf<Name>;
  /** Blocks of text for the model. */
  readonly told: (outcome: OutcomeOf<Name>, input: Input) => readonly string[];
}

/** Claude Code's own word; others do not know it. */
const ALWAYS_LOAD = { 'anthropic/alwaysLoad': true };

/** The tool of an action bears its name, with `_` for the dot that tool names may not have everywhere. */
export function tool<Name extends ActionName, Input>(definition: Definition<Name, Input>): Tool {
  const { action, title, description, effect, isCore = false, reachesOut = false, input: inputSchema, args, told } = definition;
  const name = action.replace('.', '_');
  const reads = effect === 'reads';

  async function run({ client, pending }: ToolDoors, input: Input, signal: AbortSignal): Promise<CallToolResult> {
    const request = client.freeze(action, args(input));
    if (request.status === 'refused') return toldEnding(request, reads);
    const result = await client.send(request, { signal });
    if (result.status === 'succeeded') return toldResult(told(result.outcome, input));
    if (isOpen(result, reads)) {
      // The client gives to a request the outcome of its own action.
      pending.keep({ request, told: (late: Succeeded) => told(late.outcome as OutcomeOf<Name>, input) });
    }
    return toldEnding(result, reads);
  }

  return {
    name,
    register(server, doors) {
      const config = { title, description, inputSchema, annotations: annotationsOf(effect, reachesOut), ...(isCore && { _meta: ALWAYS_LOAD }) };
      server.registerTool(name, config, (input, { mcpReq }) => run(doors, input, mcpReq.signal));
    },
  };
}

/** A closed world is said to be one: agents that ask for what acts in an open one (Codex) would ask before each answer. */
export function annotationsOf(effect: Effect, reachesOut = false): ToolAnnotations {
  return {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'destroys',
    idempotentHint: effect === 'reads' || effect === 'replaces',
    openWorldHint: reachesOut,
  };
}

type Given<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** `value` without the members that are undefined, as the types of the wire know optional ones. */
export function given<T extends object>(value: T): Given<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Given<T>; // no other member is touched
}
