/** `skep demo`: the main job, seen from outside. Exit 0 only if every step was seen to happen. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { openLog } from '../log/index.ts';
import type { Note } from '../supervisor/index.ts';
import { steadyClock, systemClock, systemRandom } from '../system/index.ts';
import type { Stage } from './demo/stage.ts';
import { Story } from './demo/story.ts';
import { jsonTimeline, textTimeline } from './demo/timeline.ts';
import type { Timeline } from './demo/timeline.ts';
import { tell, typed } from './print.ts';
import { exitCodeFor, firstSignal } from './signals.ts';
import { VERSION } from './version.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly keep?: boolean;
}

export function demoVerb(program: Command): void {
  program
    .command('demo')
    .description('show the main job on a relay, an owner and an agent of its own, in a temporary directory')
    .option('--json', 'one JSON object a line instead of text')
    .option('--keep', 'leave everything running until Ctrl-C, and say how to talk to the agent')
    .action(async (flags: DemoFlags) => { await demo(flags); });
}

async function demo({ json = false, keep = false }: DemoFlags): Promise<void> {
  const startedAtMs = systemClock.now();
  const elapsedMs = (): number => systemClock.now() - startedAtMs;
  const write = (line: string): void => { process.stdout.write(`${line}\n`); };
  const timeline = json ? jsonTimeline(elapsedMs, write) : textTimeline(elapsedMs, write);
  timeline.plain(['skep demo: a relay, an owner, a guest and one supervised agent, all on this machine']);

  const notes: Note[] = [];
  let story: Story | undefined;
  let told = false;
  const observe = (note: Note): void => {
    notes.push(note);
    if (!told) tellNote(timeline, note);
    story?.wake();
  };
  const signalled = firstSignal();
  // By need, as in `skep up`.
  const { setStage } = await import('./demo/stage.ts');
  const stage = await setStage({
    clock: systemClock, steadyClock, random: systemRandom, log: openLog('warn'), version: VERSION, nodePath: process.execPath,
    environment: process.env, observe,
  }, randomUUID());
  try {
    timeline.tell('relay', 'listens', { url: stage.relayUrl });
    story = new Story(stage, timeline, systemClock, notes);
    const stoppedBy = await Promise.race([story.tell().then(() => undefined), signalled]);
    if (stoppedBy !== undefined) {
      tell(`ended by ${stoppedBy} before everything was seen`);
      process.exitCode = exitCodeFor(stoppedBy);
      return;
    }
    timeline.plain(whatNext(stage, keep));
    if (keep) await signalled;
  } finally {
    told = true;
    await stage.close();
  }
}

function tellNote(timeline: Timeline, note: Note): void {
  switch (note.type) {
    case 'process_started':
      timeline.tell(note.agent, 'process starts', { pid: note.pid, program: note.program });
      return;
    case 'process_ended':
      timeline.tell(note.agent, 'process ends', { pid: note.pid, because: note.how });
      return;
    case 'turn_started':
      timeline.tell(note.agent, note.interrupted ? 'turn, again' : 'turn', {
        turn: note.turnId, events: note.eventIds.length, envelope: `${note.envelopeBytes} B`, manifest: note.manifestHash,
        pid: note.pid,
      });
      return;
    case 'turn_ended':
      timeline.tell(note.agent, 'turn ends', { turn: note.turnId, outcome: note.outcome, tookMs: note.tookMs });
      return;
    case 'gave_up':
      timeline.tell(note.agent, 'gives up', { turn: note.turnId, reason: note.reason });
      return;
    case 'limited':
    case 'process_failed':
    case 'accepted':
    case 'refused':
    case 'operator_turn_started':
    case 'operator_turn_ended':
    case 'steered':
      return;
  }
}

function whatNext(stage: Stage, keep: boolean): readonly string[] {
  const about = [
    '',
    'What to look at next',
    '  node bin/skep.js init my-agents   an agent of your own (README, "A first configuration")',
    '  docs/architecture.md              the road an event takes, room by room',
    '  docs/scripted-agent.md            how the agent you just saw is scripted',
  ];
  if (!keep) return [...about, '  npm run demo -- --keep            the same, left running for a client of yours'];
  return [
    ...about,
    '',
    'Everything is still running. Talk to the agent from any Nostr client that speaks NIP-29 and NIP-42:',
    `  relay     ${stage.relayUrl}`,
    `  channel   ${stage.channelId}   (h tag)`,
    `  agent     ${stage.agentPubkey}   (p tag: mention it)`,
    `  your key  ${stage.directory}/owner.key   (nsec of the owner)`,
    `  status    ${typed('status', '-c', stage.configFile)}`,
    'or from a program that knows nothing of skep:',
    `  node examples/mention.mjs ${stage.relayUrl} ${stage.directory}/owner.key ${stage.agentPubkey} ${stage.channelId} "Hello"`,
    'Ctrl-C ends it and removes the directory.',
  ];
}
