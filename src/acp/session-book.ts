/** The sessions of one agent process: their ids, so that none is given twice, and what can be chosen in them. */
import type { SessionSettings } from './ports.ts';
import { withChosen } from './session-settings.ts';
import type { SettingRoute } from './session-settings.ts';
import type { Update } from './updates.ts';

/** Session ids remembered to notice one that is given twice; the oldest are forgotten. */
const MAX_SESSIONS = 1_024;
/** Sessions whose settings are remembered, those asked for last; a supervisor uses at most 256 of a process. */
const MAX_SETTINGS = 512;
/** Sessions of which something was said before they were known; an agent that goes on with it is only forgetful. */
const MAX_EARLY = 16;

type SettingsUpdate = Extract<Update, { readonly type: 'options' | 'mode' }>;

export class SessionBook {
  readonly #ids = new Set<string>();
  readonly #settings = new Map<string, SessionSettings>();
  /** Of sessions that are not known yet. */
  readonly #early = new Map<string, readonly SettingsUpdate[]>();

  /** False for an id that is in use: two conversations would run in one, and read each other. */
  open(sessionId: string, settings: SessionSettings): boolean {
    if (this.#ids.has(sessionId)) return false;
    this.#ids.add(sessionId);
    forgetOldest(this.#ids, MAX_SESSIONS);
    this.change(sessionId, (this.#early.get(sessionId) ?? []).reduce(withUpdate, settings));
    this.#early.delete(sessionId);
    return true;
  }

  /** The oldest first. */
  ids(): readonly string[] {
    return [...this.#ids];
  }

  /** False for one that is not open. */
  delete(sessionId: string): boolean {
    this.#settings.delete(sessionId);
    return this.#ids.delete(sessionId);
  }

  settings(sessionId: string): SessionSettings | undefined {
    const settings = this.#settings.get(sessionId);
    if (settings !== undefined) this.change(sessionId, settings);
    return settings;
  }

  isOpen(sessionId: string): boolean {
    return this.#ids.has(sessionId);
  }

  /** The agent took the value. */
  chosen(sessionId: string, route: SettingRoute, value: string): void {
    const settings = this.#settings.get(sessionId);
    if (settings !== undefined) this.change(sessionId, withChosen(settings, route, value));
  }

  change(sessionId: string, settings: SessionSettings): void {
    this.#settings.delete(sessionId);
    this.#settings.set(sessionId, settings);
    forgetOldest(this.#settings, MAX_SETTINGS);
  }

  /** True for an update that told of settings: it is of no turn, and counts in any. */
  hear(sessionId: string, update: Update): boolean {
    if (update.type !== 'options' && update.type !== 'mode') return false;
    const settings = this.#settings.get(sessionId);
    if (settings !== undefined) this.change(sessionId, withUpdate(settings, update));
    else this.#keepEarly(sessionId, update);
    return true;
  }

  /** The answer that opens a session is met a little after the lines that follow it. */
  #keepEarly(sessionId: string, update: SettingsUpdate): void {
    if (this.#ids.has(sessionId)) return;
    const others = this.#early.get(sessionId)?.filter(({ type }) => type !== update.type) ?? [];
    this.#early.set(sessionId, [...others, update]);
    forgetOldest(this.#early, MAX_EARLY);
  }
}

function withUpdate(settings: SessionSettings, update: SettingsUpdate): SessionSettings {
  if (update.type === 'options') return { ...settings, configOptions: update.configOptions };
  return settings.modes === undefined ? settings : { ...settings, modes: { ...settings.modes, current: update.modeId } };
}

function forgetOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
