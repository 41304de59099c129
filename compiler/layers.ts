/**
 * Which layers a turn has. Rows and their order are the manifest table of the rules, version 1; layer 5
 * (`thread_checkpoint`) is absent by the compiler spec, and `workspace` is no layer.
 */
import type { EnvelopeParts } from './envelope.ts';
import { layerOf } from './manifest.ts';
import type { Layer, LayerKind } from './manifest.ts';
import { sha256 } from './sha256.ts';
import { trim } from './text.ts';
import type { History, Standing, TriggeredEvent, TurnInput } from './turn.ts';

type Row = readonly [order: number, layer: string, scope: string, source: string, authority: string, freshness: string];

function kind([order, layer, scope, source, authority, freshness]: Row): LayerKind {
  return { order, layer, scope, source, authority, freshness };
}

const KINDS = {
  base: kind([1, 'platform_contract', 'runtime', 'base_prompt', 'instructions', 'configured']),
  guidance: kind([
    2, 'persona_and_team_guidance', 'agent_community', 'agent_configuration', 'instructions', 'configured',
  ]),
  memory: kind([3, 'core_memory', 'agent_owner', 'core_engram', 'advisory_context', 'session_start']),
  channel: kind([4, 'channel_snapshot', 'channel', 'channel_metadata', 'shared_evidence', 'cached']),
  canvas: kind([4, 'channel_canvas', 'channel', 'channel_canvas', 'shared_evidence', 'session_start']),
  status: kind([6, 'context_status', 'turn', 'delivery_state', 'evidence', 'current']),
  threadHistory: kind([6, 'recent_thread_delta', 'thread', 'relay_events', 'evidence', 'current']),
  dmHistory: kind([6, 'recent_thread_delta', 'dm', 'relay_events', 'evidence', 'current']),
  interrupted: kind([6, 'interrupted_turn', 'thread', 'cancelled_events', 'evidence', 'current']),
  instruction: kind([7, 'current_instruction', 'turn', 'nostr_event', 'authoritative', 'current']),
  heartbeat: kind([7, 'current_instruction', 'turn', 'heartbeat_prompt', 'instructions', 'configured']),
  initial: kind([7, 'current_instruction', 'turn', 'initial_prompt', 'instructions', 'configured']),
  delivery: kind([8, 'delivery_contract', 'turn', 'buzz_routing', 'routing_constraint', 'current']),
  steer: kind([8, 'steer_delivery_contract', 'turn', 'steer_framing', 'routing_constraint', 'current']),
} as const;

/** The layers of a turn, blank ones left out, in the order of the table. */
export function turnLayers(input: TurnInput, parts: EnvelopeParts): readonly Layer[] {
  const { standing = {}, history } = input;
  return present([
    ...guidanceLayers(standing),
    parts.channel && layerOf(KINDS.channel, parts.channel.text, { truncated: parts.channel.truncated }),
    standingLayer(KINDS.canvas, standing.channelCanvas),
    layerOf(KINDS.status, parts.status),
    history && parts.history !== undefined ? historyLayer(history, parts.history) : undefined,
    layerOf(KINDS.interrupted, parts.interrupted ?? ''),
    ...messageLayers(input.events, parts),
  ]);
}

/** The layers of a turn that no message asked for. */
export function operatorLayers(
  { standing, source, status, instruction }: { readonly standing: Standing; readonly source: 'heartbeat' | 'initial'; readonly status: string; readonly instruction: string },
): readonly Layer[] {
  return present([
    ...guidanceLayers(standing),
    standingLayer(KINDS.canvas, standing.channelCanvas),
    layerOf(KINDS.status, status),
    layerOf(KINDS[source], instruction),
  ]);
}

/** What the agent is told of itself, whatever the turn is about. */
function guidanceLayers(standing: Standing): readonly (Layer | undefined)[] {
  return [
    standingLayer(KINDS.base, standing.base),
    layerOf(KINDS.guidance, guidanceOf(standing)),
    standingLayer(KINDS.memory, standing.coreMemory),
  ];
}

/** The layers of a steer: what it shows the agent, which is no ambient and no standing text. */
export function steerLayers(input: TurnInput, parts: EnvelopeParts, guidance: string): readonly Layer[] {
  return present([...messageLayers(input.events, parts), layerOf(KINDS.steer, guidance)]);
}

function messageLayers(events: readonly TriggeredEvent[], parts: EnvelopeParts): readonly (Layer | undefined)[] {
  // Compiler spec: content versions are hashes unless a signed source event id is available.
  const version = events.length === 1 ? events[0]?.event.id : undefined;
  return [layerOf(KINDS.instruction, parts.events, { version }), layerOf(KINDS.delivery, parts.delivery)];
}

function present(layers: readonly (Layer | undefined)[]): readonly Layer[] {
  return layers.filter((layer) => layer !== undefined);
}

// As given: neither trimmed nor escaped, so that the version is that of the configured text.
function standingLayer(layerKind: LayerKind, text: string | undefined): Layer | undefined {
  return text === undefined ? undefined : layerOf(layerKind, text);
}

function guidanceOf({ system, teamInstructions, huddleInstructions }: Standing): string {
  return [system, teamInstructions, huddleInstructions]
    .map((text) => trim(text ?? ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

// Compiler spec: ids, times and keys stay out of the envelope but feed the version, so that two relay heads differ.
function historyLayer(history: History, rendered: string): Layer | undefined {
  const { scope, total, truncated } = history;
  const messages = history.messages.map((message) => [
    message.eventId, message.pubkey, message.timestamp, message.content,
  ]);
  const version = sha256(JSON.stringify({ messages, scope, total, truncated }));
  return layerOf(scope === 'dm' ? KINDS.dmHistory : KINDS.threadHistory, rendered, { version, truncated });
}
