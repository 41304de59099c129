/**
 * Agent programs: what we know of each, as data.
 * in: a catalogue name, or the command of a program the catalogue does not know.
 * out: its profile, and the command line that starts it. scripted/ is a program of its own: spawned, never imported.
 */
export { adapterNames, findAdapter, recognizeAdapter } from './catalogue.ts';
export { customAdapter } from './custom.ts';
export type { CustomAdapter } from './custom.ts';
export { commandLine, scriptedModule } from './launch.ts';
export type { CommandLine } from './launch.ts';
export type { Dialect, ErrorSign, StandingRole, UpdateSign } from './dialect.ts';
export type { AdapterProfile, Launch, Traits } from './profile.ts';
export { USAGE_BY_LOOKING } from './usage.ts';
export type { SessionUsage, TurnUsage, UsageShape } from './usage.ts';
