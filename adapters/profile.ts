/**
 * What is known of an agent program before it runs: how it is started, installed and recognised, how it is spoken to, and
 * what it does in the places where agents differ. Data only, measured; what an agent says of itself in its answer to
 * initialize is never overruled.
 */
import type { Dialect } from './dialect.ts';

export interface AdapterProfile {
  /** The word in a config file. Lower case. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  readonly launch: Launch;
  /** What its answer to initialize calls it (`agentInfo.name`), where that is known. */
  readonly agentNames: readonly string[];
  readonly dialect: Dialect;
  /** Set for it, unless the operator sets the same name. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly asking: Asking;
  readonly traits?: Partial<Traits>;
  readonly needs: Needs;
  /** Where its makers say how to install and configure it. Absent for a program the operator brings. */
  readonly docsUrl?: string;
  /** What an operator should know, one sentence each. */
  readonly notes?: readonly string[];
}

/** A program found on PATH or by its path, or a module of this package that the Node running us runs. */
export type Launch =
  | { readonly runs: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly runs: 'node-module'; readonly module: 'scripted'; readonly args: readonly string[] };

/** What makes it ask before it acts: the start mode of its dialect, our environment, settings of its own, or nothing. */
export interface Asking {
  readonly by: 'start-mode' | 'environment' | 'settings' | 'nothing' | 'unknown';
  /** For people: what is asked for, and what the operator has to do. */
  readonly how: string;
}

/** What was seen of it. Nothing is decided by these where the agent tells the same of itself. */
export interface Traits {
  /** After a rejected permission the model is told and goes on, the turn ends, or it ends as cancelled. */
  readonly onReject: 'goes-on' | 'turn-ends' | 'turn-cancelled' | 'never-asks';
  /** A request that waits when its turn is cancelled: withdrawn by the agent, or kept until it is answered. */
  readonly onCancel: 'withdraws' | 'waits';
  /** An error of the model's provider: answered as an error, as the end of a turn, or tried again in silence. */
  readonly onModelError: readonly ('error' | 'end-of-turn' | 'silent-retries')[];
  readonly steering: 'session' | 'goose' | 'none';
  /** In order of preference. */
  readonly modelBy: readonly Switch[];
  readonly modeBy: readonly Switch[];
  readonly load: 'yes' | 'no' | 'unreliable';
  readonly resume: boolean;
  readonly close: boolean;
  /** When its stdin ends: it exits, exits only when no tool runs, or does not. */
  readonly onStdinEnd: 'exits' | 'exits-when-idle' | 'stays';
  /** A tool that runs when the program is ended by SIGTERM. */
  readonly toolAtSigterm: 'ends' | 'lives-on';
}

export type Switch = 'set_config_option' | 'set_model' | 'set_mode';

export interface Needs {
  /** npm's own form, such as `>=22`. */
  readonly node?: string;
  /** Other programs that have to be on PATH. */
  readonly programs?: readonly string[];
  /** Where its model's key or login comes from. */
  readonly login?: string;
  /** One command. */
  readonly install?: string;
  /** A variable by which it trusts the folder it works in, and what it does not do where it does not. */
  readonly trust?: { readonly name: string; readonly value: string; readonly without: string };
}
