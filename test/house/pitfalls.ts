/**
 * How programs like this one break in the field, in the sections that concern agent programs: each kind of fault, and the
 * tests that show it is not ours. A test is named by its file and the words in its title.
 */
export interface Pitfall {
  readonly section: 'Processes' | 'Lines' | 'Protocol' | 'Cancel and time' | 'Days' | 'Answers';
  readonly fault: string;
  readonly tests: readonly (readonly [file: string, title: string])[];
}

export const PITFALLS: readonly Pitfall[] = [
  {
    section: 'Processes', fault: 'a program that goes on when its stdin ends',
    tests: [
      ['test/acp/end.test.ts', 'is gone after a stop, though none heeds the end of stdin or SIGTERM'],
      ['test/acp/end.test.ts', 'is heeded at the end of stdin, without a signal'],
    ],
  },
  {
    section: 'Processes', fault: 'a shell with a runtime with a tool, of which a part is left by a stop, a crash or a timeout',
    tests: [
      ['test/acp/end.test.ts', 'is gone after a stop that the agent heeds'], ['test/acp/end.test.ts', 'is gone after a crash of the leader'],
      ['test/acp/end.test.ts', 'is gone after a timeout'], ['test/acp/force.test.ts', 'ends the whole tree at once'],
    ],
  },
  {
    section: 'Processes', fault: 'a tool that leaves the tree: into a session of its own, forked twice, without an environment',
    tests: [
      ['test/acp/end.test.ts', 'in a session of its own is found after a crash when it was remembered: %s'],
      ['test/acp/leaks.test.ts', 'is known by a pipe it holds, and ended'],
      ['test/acp/leaks.test.ts', 'and let go of its pipes is proven by nothing: it is told, and left alone'],
      ['test/acp/leaks.test.ts', 'tells each once, and forgets it when it has ended'],
    ],
  },
  {
    section: 'Processes', fault: 'twenty starts of one agent that leave more than one child',
    tests: [
      ['test/acp/start.test.ts', 'of the same agent, twenty, one after the other, leave one living child'],
      ['test/supervisor/days.test.ts', 'a session that is gone on with twenty times has one living process'],
    ],
  },
  {
    section: 'Processes', fault: 'a recorded number that is another program by now',
    tests: [
      ['test/acp/leftovers.test.ts', 'never costs a stranger its life: pid and start time must both match'],
      ['test/acp/leftovers.test.ts', 'is not taken for ours by its number alone'],
      ['test/acp/end.test.ts', 'is never signalled'], ['test/acp/descendants.test.ts', 'takes no one whose start time differs, nor what that one started or leads'],
    ],
  },
  {
    section: 'Processes', fault: 'an agent that is killed, between turns and in one',
    tests: [
      ['test/supervisor/days.test.ts', 'an agent that is killed between turns and in one answers each message once, from a fresh process'],
      ['test/e2e/turns.test.ts', 'is replaced, and the message comes back as an interrupted turn, answered once'],
      ['test/e2e/turns.test.ts', 'is not asked again when it had answered'],
    ],
  },
  {
    section: 'Processes', fault: 'a start that never answers, is not there, may not be run, or exits at once, and is told as anything else',
    tests: [
      ['test/acp/start.test.ts', 'never answers: ended within the deadline, which is told'], ['test/acp/start.test.ts', 'no such program'],
      ['test/acp/start.test.ts', 'not executable'], ['test/acp/start.test.ts', 'exit 1 at once'], ['test/acp/start.test.ts', 'exit 0 at once'],
    ],
  },
  {
    section: 'Processes', fault: "secrets and settings of the supervisor's own environment in that of a child",
    tests: [
      ['test/acp/start.test.ts', "gives the child the plan's environment, byte for byte, whatever ours holds"],
      ['test/e2e/turns.test.ts', 'is the allow-list, whatever the supervisor was started with'],
      ['test/acp/end.test.ts', "finds no key and no credential but its own, in its environment and its parent's /proc"],
    ],
  },
  {
    section: 'Processes', fault: 'a program that always dies a moment after its start',
    tests: [
      ['test/supervisor/days.test.ts', 'a program that always dies is started seldom, in every slot; it is given no message once that is known, and one notice says so'],
      ['test/supervisor/agent-process.test.ts', 'three times in a minute, with no good turn between, is not started again for a while'],
      ['test/supervisor/agent-process.test.ts', 'is told once an outage, in the thread of the message that waits longest'],
      ['test/acp/breaker-machine.test.ts', 'the breaker of a process slot'],
    ],
  },
  {
    section: 'Processes', fault: 'a stop of the supervisor while a tool is at work',
    tests: [
      ['test/acp/end.test.ts', 'asks running turns to end'], ['test/e2e/force.test.ts', 'a second signal ends an agent %s, and its tool'],
      ['test/e2e/force.test.ts', 'a single one asks first: the control'],
      ['test/supervisor/agent-store.test.ts', 'cuts the turn short when the grace is over: it is kept as interrupted, and not counted'],
    ],
  },
  {
    section: 'Processes', fault: 'a killed supervisor whose agents live on',
    tests: [
      ['test/acp/leftovers.test.ts', 'lets the next supervisor end what a killed one left, whole trees'],
      ['test/acp/leaks.test.ts', 'is told by the next start where the supervisor was killed'],
      ['test/e2e/operator.test.ts', 'leaves a tool running in a session of its own until the next start, and no longer'],
      ['test/e2e/operator.test.ts', 'loses none of five unanswered messages and answers each once, in order'],
    ],
  },
  {
    section: 'Processes', fault: 'many agents at once, and a package manager at run time',
    tests: [
      ['test/supervisor/days.test.ts', 'eight programs start side by side'],
      ['test/adapters/catalogue.test.ts', 'starts none of them by a package manager'],
    ],
  },
  {
    section: 'Lines', fault: 'banners, colours, blank lines and text between frames',
    tests: [
      ['test/acp/streams.test.ts', 'with a banner, colours, blank lines and text between frames is read all the same'],
      ['test/acp/connection.test.ts', 'noise is never answered, and too much of it in a minute is not the protocol'],
    ],
  },
  {
    section: 'Lines', fault: 'a program that echoes what it reads',
    tests: [['test/acp/streams.test.ts', 'that echoes everything gets no reply to an echo'], ['test/acp/connection.test.ts', 'gets no reply to an echo, and its echoes end no call of ours']],
  },
  {
    section: 'Lines', fault: 'a character whose bytes come one by one',
    tests: [['test/acp/streams.test.ts', 'that comes one byte at a time gives the same text'], ['test/acp/lines.test.ts', 'splits no character, though each byte comes alone']],
  },
  {
    section: 'Lines', fault: 'a byte order mark and CRLF: in a config, a fixture, a line',
    tests: [
      ['test/config/load.test.ts', 'reads the same with a byte order mark and CRLF, instructions and keys included'],
      ['test/replay/formats.test.ts', 'may carry a byte order mark and CRLF'], ['test/acp/streams.test.ts', 'with a BOM and CRLF is read'],
      ['test/compiler/replay.test.ts', 'reads the same from text with a byte order mark and CRLF'],
    ],
  },
  {
    section: 'Lines', fault: 'lines of many megabytes',
    tests: [
      ['test/acp/streams.test.ts', 'of a line of %d MB is read'],
      ['test/acp/streams.test.ts', 'of a line of %d MB ends this agent, and another one answers meanwhile, within a second'],
    ],
  },
  {
    section: 'Lines', fault: 'a program that exits before, in the middle of, or after a prompt of 2 MB',
    tests: [
      ['test/acp/streams.test.ts', 'to a program that has just exited is a failed turn'],
      ['test/acp/streams.test.ts', 'to a program that exits in the middle of it is a failed turn'],
      ['test/acp/streams.test.ts', 'to a program that exits after it is a failed turn'],
    ],
  },
  {
    section: 'Lines', fault: 'a mebibyte on stderr before the first answer',
    tests: [
      ['test/acp/streams.test.ts', 'of a mebibyte before the first answer stops nobody, and its tail is kept, bounded'],
      ['test/acp/streams.test.ts', 'is told without secrets when the program dies'],
    ],
  },
  {
    section: 'Protocol', fault: 'ids of any form in requests of the agent',
    tests: [
      ['test/acp/desk.test.ts', 'under id %j is answered later under exactly that, and the write is told'],
      ['test/acp/turn.test.ts', 'under id %j is answered under exactly that'], ['test/acp/connection.test.ts', 'id null'],
    ],
  },
  {
    section: 'Protocol', fault: 'requests and notifications that nobody knows',
    tests: [
      ['test/acp/turn.test.ts', 'and we do not offer is refused within a second'],
      ['test/acp/connection.test.ts', 'an unknown notification is passed over'],
    ],
  },
  {
    section: 'Protocol', fault: 'null where a number belongs, and kinds of updates from the future',
    tests: [
      ['test/acp/streams.test.ts', 'with an odd update skips that update alone'],
      ['test/acp/connection.test.ts', 'an update of unknown kind or shape is skipped alone, and nothing is printed'],
    ],
  },
  {
    section: 'Protocol', fault: 'a program that dies while a request of ours waits',
    tests: [
      ...['session/new', 'a prompt', 'the choice of a model', 'the mode of a session'].map((what) => ['test/acp/deaths.test.ts', `while ${what} waits`] as const),
      ['test/acp/deaths.test.ts', 'while the close of a session waits, and a prompt in another'],
      ['test/acp/deaths.test.ts', 'a program that dies while initialize waits'],
      ['test/acp/turn.test.ts', 'ends every turn that waits in it, within a second, with the way it ended'],
    ],
  },
  {
    section: 'Protocol', fault: 'text after the end of a turn, updates before its session is there',
    tests: [
      ['test/acp/turn.test.ts', 'gets no update from before it, and leaves none of its own to the next'],
      ['test/acp/connection.test.ts', 'a prompt is complete at its answer: what follows in the same read is late'],
    ],
  },
  {
    section: 'Protocol', fault: 'a session that cannot be gone on with',
    tests: [
      ['test/supervisor/sessions/reopening.test.ts', 'is given its context again in a fresh session where that fails, once'],
      ['test/supervisor/sessions/reopening.test.ts', 'is not hung up on by an agent that never answers: it is replaced, and a fresh session begins'],
      ['test/acp/reopening.test.ts', 'is refused where the agent does not know it, and by whatever code'],
      ['test/acp/reopening.test.ts', 'settles when there is no answer in time, or the agent dies of it'],
    ],
  },
  {
    section: 'Protocol', fault: 'two prompts in one session',
    tests: [
      ['test/supervisor/sessions/serial.test.ts', 'come one after the other, in %i processes'],
      ['test/acp/turn.test.ts', 'is one at a time in a session, and a second is a bug'],
      ['test/e2e/turns.test.ts', 'never put two turns into one process, however many wait and whenever they come'],
    ],
  },
  {
    section: 'Protocol', fault: 'one session that waits for its owner, and another of the same program',
    tests: [
      ['test/acp/desk.test.ts', 'that waits in one session holds up no other'],
      ['test/permission/driver.test.ts', 'wait side by side, and each decision finds its own'],
    ],
  },
  {
    section: 'Protocol', fault: 'errors of the provider of the model that come as the end of a turn, and limits',
    tests: [
      ['test/supervisor/provider-limit.test.ts', 'codex: a limit told as the end of a turn is no answer, and waits'],
      ['test/supervisor/provider-limit.test.ts', '%s: no login is dead at once, with one notice that says the mend'],
      ['test/supervisor/provider-limit.test.ts', 'is left alone also after a restart, and not told a second time'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'the end of a turn, a session or a process with a question open',
    tests: [
      ['test/permission/driver.test.ts', 'answers what waits with cancelled'], ['test/permission/driver.test.ts', 'with the process leaves one terminal and no card open'],
      ['test/e2e/permission.test.ts', 'is closed as cancelled when the agent dies'], ['test/e2e/permission.test.ts', 'is closed as cancelled when the owner cancels the turn'],
      ['test/e2e/permission.test.ts', 'is closed as cancelled when the turn is cut short by a stop'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'a cancel that is ignored',
    tests: [
      ['test/acp/cancel.test.ts', 'that is ignored costs the agent its life, and everything it started'],
      ['test/supervisor/days.test.ts', 'a cancel that is ignored costs the agent its process, and no message that waits'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'a cancelled turn that ends with another word',
    tests: [['test/acp/cancel.test.ts', 'is ours though the agent ends with %s']],
  },
  {
    section: 'Cancel and time', fault: 'a turn that always takes too long',
    tests: [
      ['test/e2e/turns.test.ts', 'is given up after the hard timeout, with the true reason'],
      ['test/supervisor/ways-to-end.test.ts', '%s: what follows is as the page has it'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'a turn that is dead and still says words',
    tests: [
      ['test/acp/cancel.test.ts', '%s is no progress: the turn is idle'], ['test/acp/progress.test.ts', 'an update of the kind %s: the turn goes on: %s'],
      ['test/acp/cancel.test.ts', 'but the lines of another session keep no one alive'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'a message that comes in mid-turn and is swallowed, answered twice, or given to a turn that is dead',
    tests: [
      ['test/supervisor/mid-turn.test.ts', '%s, %s, %s: both are answered once'],
      ['test/supervisor/inbox/mid-turn-walk.test.ts', '%s: each is in one place, on disk before it is read, and comes to its end'],
      ['test/supervisor/mid-turn-more.test.ts', 'and ends its turn without a word on, has a turn of its own'],
      ['test/supervisor/mid-turn-more.test.ts', 'and its work is finished where the agent had published by then, "working on it" or more'],
      ['test/supervisor/operator.test.ts', 'gives way while it is silent: the message has the process, and the beat comes again at its time'],
      ['test/acp/steering.test.ts', 'is answered behind the end of its turn: it is not of that turn, whatever the agent says'],
      ['test/acp/steering.test.ts', 'is no sign of life: a turn that says it has it and does nothing is idle'],
    ],
  },
  {
    section: 'Cancel and time', fault: 'a question that nobody answers in time, and what the agent makes of that',
    tests: [['test/e2e/permission.test.ts', 'not in time: it is denied, and the card says so'], ['test/permission/driver.test.ts', 'denies at the deadline that was set, by one timer']],
  },
  {
    section: 'Cancel and time', fault: 'a thousand turns that fail',
    tests: [['test/supervisor/days.test.ts', '1,000 turns that fail leave no timer and no handle, and a stop takes less than two seconds']],
  },
  {
    section: 'Days', fault: 'threads without end',
    tests: [['test/supervisor/days.test.ts', 'turns in threads that are always new leave the heap, the timers and the sessions as they were']],
  },
  {
    section: 'Days', fault: 'five hundred changes of the model',
    tests: [['test/acp/session-settings.test.ts', 'leaves nothing behind, five hundred times']],
  },
  {
    section: 'Days', fault: 'a low limit of open files',
    tests: [
      ['test/acp/start.test.ts', 'is enough for a thousand sessions of an agent, which take none'],
      ['test/acp/start.test.ts', 'is refused by name, and ends nothing else'],
    ],
  },
  {
    section: 'Answers', fault: 'a turn without output, with thoughts alone, with tool calls alone',
    tests: [['test/e2e/turns.test.ts', 'and has %s gets one notice that wakes nobody']],
  },
];
