/** What an owner orders, and what is seen of it, on a bench. */
import type { ControlFrame } from '../../src/broker/index.ts';
import { eventId, seconds } from '../../src/model/index.ts';
import type { VerifiedEvent } from '../../src/nostr/index.ts';
import type { Bench } from './bench.ts';
import { agent, channel, message, owner } from './people.ts';

export const AT = seconds(1_700_000_000);
export const HOLD = { match: 'hold', do: [{ say: 'half an answer' }, { mark: 'holding' }, { hang: true }] };
export const TOOL = { match: 'tool', do: [{ tool: { title: 'Dig', updates: [{ status: 'in_progress' }] } }, { hang: true }] };
export const ANSWER = { do: [{ say: '{{content}} by {{model}}, {{session}}' }] };
export const MODELS = { models: { currentModelId: 'small', availableModels: [{ modelId: 'small' }, { modelId: 'large' }] } };
export const OPTIONS = {
  configOptions: [{ id: 'model', category: 'model', type: 'select', name: 'Model', currentValue: 'small', options: [{ value: 'small', name: 'S' }, { value: 'large', name: 'L' }] }],
};

/** How long the choice of a model may take. */
export const MODEL_MS = 20_000;

let frames = 0;

export function frameOf(type: string, more: Readonly<Record<string, unknown>> = {}): ControlFrame {
  frames += 1;
  return {
    eventId: eventId(frames.toString(16).padStart(64, '0')), sender: owner.pubkey, agent: agent.pubkey, createdAt: AT, receivedAt: AT,
    type, body: { type, channelId: channel, ...more },
  };
}

export function order(bench: Bench, type: string, more: Readonly<Record<string, unknown>> = {}): void {
  bench.link.order(frameOf(type, more));
}

export function results(bench: Bench): readonly unknown[] {
  return bench.link.told.filter(({ kind }) => kind === 'control_result').map(({ payload }) => JSON.parse(payload) as unknown);
}

export async function nthResult(bench: Bench, count: number): Promise<unknown> {
  return bench.until(() => results(bench)[count - 1]);
}

export function reports(bench: Bench): readonly unknown[] {
  return bench.link.reports.map(({ content }) => JSON.parse(content) as unknown);
}

/** Answered text as `content`, `model` and `session`. */
export function answered(bench: Bench): readonly { readonly content: string; readonly model: string; readonly session: string }[] {
  return bench.answers.map((text) => {
    const [, content = '', model = '', session = ''] = /^(.*) by (.*), (.*)$/s.exec(text) ?? [];
    return { content, model, session };
  });
}

/** The process that has a session. */
export function holding(bench: Bench): number {
  const pid = bench.agent.snapshot().processes.find(({ sessions }) => sessions > 0)?.pid;
  if (pid === undefined) throw new Error('no process has a session');
  return pid;
}

export async function running(bench: Bench, content: string, count = 1): Promise<VerifiedEvent> {
  const event = message({ content });
  await bench.hear(event);
  await bench.nth('turn_started', count);
  return event;
}

/** What happens while the process neither reads nor writes. */
export async function whileStopped(pid: number, happens: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await happens();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
