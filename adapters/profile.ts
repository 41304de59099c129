import type { UsageShape } from './usage.ts';

/**
 * What is known of an agent program before it runs: how to start it, and how it takes its standing text.
 * Data only. What an agent can do beyond that, it says itself in its answer to initialize; a profile never overrules
 * it.
 */
export interface AdapterProfile {
  /** The word in a config file. Lower case. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  readonly launch: Launch;
  readonly standingRole: StandingRole;
  readonly usage: UsageShape;
  /** Where its makers say how to install and configure it. Absent for a program the operator brings. */
  readonly docsUrl?: string;
  /** What an operator should know, one sentence each. */
  readonly notes?: readonly string[];
}

/** A program found on PATH or by its path, or a module of this package that the Node running us runs. */
export type Launch =
  | { readonly runs: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly runs: 'node-module'; readonly module: 'scripted'; readonly args: readonly string[] };

/**
 * How the standing text (workspace, base, system, ...) reaches the model.
 * `capability`: in session/new as `systemPrompt` content where the agent's sessionCapabilities name it, else as
 * `first-message`. `meta-append`: in session/new as `_meta.systemPrompt.append`. `first-message`: as a text block of
 * its own before the envelope, in the first prompt of each session.
 */
export type StandingRole = 'capability' | 'meta-append' | 'first-message';
