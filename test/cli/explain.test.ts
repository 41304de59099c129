/** `skep explain`: every line of what an agent reads, and the layer it comes from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { standingText } from '../../compiler/index.ts';
import type { CompiledTurn, Layer, TurnInput } from '../../compiler/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';
import { runPiped } from './piped.ts';

const TURNS = fileURLToPath(new URL('../../fixtures/turns/', import.meta.url));
const EVERY_LAYER = join(TURNS, 'every-layer.json');

type Ranges = readonly (readonly [number, number])[];
interface Explained {
  readonly hash: string;
  readonly verified: boolean;
  readonly envelope: { readonly bytes: number; readonly lines: number; readonly frame: Ranges };
  readonly standing: { readonly bytes: number; readonly lines: number; readonly frame: Ranges };
  readonly layers: readonly (Layer & { readonly envelopeLines: Ranges; readonly standingLines: Ranges })[];
}

function recorded(file: string): { readonly input: TurnInput; readonly output: CompiledTurn } {
  return JSON.parse(readFileSync(file, 'utf8')) as { readonly input: TurnInput; readonly output: CompiledTurn };
}

async function explained(args: readonly string[], input = ''): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runPiped(['explain', ...args], temporaryDirectory(), input);
  return { code, stdout: stdout.toString('utf8'), stderr };
}

it('--json accounts for every line exactly once', async () => {
  const { input, output } = recorded(EVERY_LAYER);
  const { code, stdout, stderr } = await explained(['--json', EVERY_LAYER]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { hash, verified, envelope, standing, layers } = JSON.parse(stdout) as Explained;
  expect({ hash, verified }).toEqual({ hash: output.manifest.hash, verified: true });
  expect(layers).toMatchObject(output.manifest.layers);
  const texts = [
    { about: envelope, text: output.envelope, ranges: layers.flatMap((layer) => layer.envelopeLines) },
    { about: standing, text: standingText(input.standing ?? {}), ranges: layers.flatMap((layer) => layer.standingLines) },
  ];
  for (const { about, text, ranges } of texts) {
    expect(about).toMatchObject({ bytes: Buffer.byteLength(text), lines: text.split('\n').length });
    const lines = [...ranges, ...about.frame].flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
    expect(lines.sort((one, other) => one - other)).toEqual(text.split('\n').map((_, index) => index + 1));
  }
});

it('tells people the same as a table', async () => {
  const { code, stdout, stderr } = await explained([EVERY_LAYER]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    'manifest  sha256:b88d7ac9d8356ab85abfd0f6f1c52a0943014836447f6f4c1ac6a4aa6e5cfe0a',
    'envelope  19 lines, 1298 bytes',
    'standing  30 lines, 456 bytes; the first block of this prompt',
    '',
    'order  layer                      source               version              tokens  truncated  lines',
    '    1  platform_contract          base_prompt          sha256:83685c29e63a      15  no         standing 5-8',
    '    2  persona_and_team_guidance  agent_configuration  sha256:f2df82fdc76f      16  no         standing 10-12, 14-16, 22-24',
    '    3  core_memory                core_engram          sha256:9fe6f576cb2d      11  no         standing 18-20',
    '    4  channel_snapshot           channel_metadata     sha256:84133c17ffe8      17  no         envelope 4-5',
    '    4  channel_canvas             channel_canvas       sha256:fc2730b6f445      12  no         standing 26-30',
    '    6  context_status             delivery_state       sha256:af206ef4d6cf       4  no         envelope 3',
    '    6  recent_thread_delta        relay_events         sha256:2ea461b7b193      29  no         envelope 6-8',
    '    6  interrupted_turn           cancelled_events     sha256:dd9eb432be73     113  no         envelope 9-13',
    '    7  current_instruction        nostr_event          event:b618d0124add       98  no         envelope 15-17',
    '    8  delivery_contract          buzz_routing         sha256:de975fdd9808      49  no         envelope 18',
    '       in no layer                                                                             envelope 1-2, 14, 19; standing 1-4, 9, 13, 17, 21, 25',
    '       in all                                                                  364',
    '',
  ]);
});

it('says that a turn has no standing text, and that no event was verified', async () => {
  const { input } = recorded(join(TURNS, 'bare.json'));
  const forged = JSON.stringify({ ...input, events: input.events.map((entry) => ({ ...entry, event: { ...entry.event, sig: '0'.repeat(128) } })) });
  const { code, stdout, stderr } = await explained(['-', '--unverified'], forged);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'skep: no event was verified (--unverified)\n' });
  expect(stdout).toMatch(/^manifest {2}sha256:[0-9a-f]{64} {3}\(no event was verified\)\nenvelope {2}10 lines, \d+ bytes\nstanding {2}none\n/);
  const refused = await explained(['-'], forged);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^skep: stdin:1: events\[0\]\.event\.sig: expected .*\n$/);
});
