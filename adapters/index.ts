/**
 * Agent programs: what we know of each, as data.
 * in: a catalogue name, or the command of a program the catalogue does not know.
 * out: its profile, and the command line that starts it. scripted/ is a program of its own: spawned, never imported.
 */
export { adapterNames, findAdapter } from './catalogue.ts';
export { customAdapter } from './custom.ts';
export { commandLine, scriptedModule } from './launch.ts';
export type { CommandLine } from './launch.ts';
export type { AdapterProfile, Launch, StandingRole } from './profile.ts';
export { USAGE_BY_LOOKING } from './usage.ts';
export type { SessionUsage, TurnUsage, UsageShape } from './usage.ts';
