/**
 * The models that the owner has chosen, one a channel, for as long as skep runs: given to every session of the channel
 * before it is prompted, also to one in a process that came after. What a switch in mid-turn comes to is told when a
 * session has the model, or will not have it, or there is no channel any more in which one could.
 */
import { currentOf, routeTo } from '../acp/index.ts';
import type { AgentProcess, SessionSettings, SettingChange } from '../acp/index.ts';
import type { ChannelId } from '../model/index.ts';
import { RecentMap } from './recent-map.ts';

export interface ModelChoice {
  readonly modelId: string;
  /** Whoever waits to hear what came of it; told once. `no_active_turn`: nothing will, for its channel was left, or another followed. */
  readonly answer?: (status: 'switched' | 'unsupported_model' | 'no_active_turn') => void;
}

/** Channels with a choice; beyond it the one used longest ago goes back to the agent's own model. */
const MAX_CHANNELS = 1_024;

export class ModelChoices {
  readonly #choices = new RecentMap<ChannelId, ModelChoice>(MAX_CHANNELS);
  /** Choices whose end was told. */
  readonly #told = new WeakSet<ModelChoice>();
  #seen: SessionSettings | undefined;

  choose(channelId: ChannelId, choice: ModelChoice): void {
    const gaveWay = this.#choices.set(channelId, choice);
    if (gaveWay !== undefined) this.#tell(gaveWay, 'no_active_turn');
  }

  /** Nothing comes of `before` any more: another stands in its place, and is not taken back. */
  followed(before: ModelChoice | undefined): void {
    if (before !== undefined) this.#tell(before, 'no_active_turn');
  }

  of(channelId: ChannelId): ModelChoice | undefined {
    return this.#choices.get(channelId);
  }

  /** Its sessions have the agent's own model from here on. */
  forget(channelId: ChannelId): void {
    const choice = this.#choices.get(channelId);
    this.#choices.delete(channelId);
    if (choice !== undefined) this.#tell(choice, 'no_active_turn');
  }

  /** Undoes `choice`, unless something has come of it meanwhile, or another followed. */
  takeBack(channelId: ChannelId, choice: ModelChoice, before: ModelChoice | undefined): void {
    if (this.#choices.get(channelId) !== choice) return;
    if (before === undefined) this.#choices.delete(channelId);
    else this.#choices.set(channelId, before);
  }

  /** What a session of this agent program offers; one that was gone on with may not say it. */
  saw(settings: SessionSettings | undefined): void {
    const saysNothing = settings === undefined || (settings.configOptions.length === 0 && settings.models === undefined);
    if (settings !== undefined && !(saysNothing && this.#seen !== undefined)) this.#seen = settings;
  }

  /** Whether the agent program offers the model; undefined as long as no session was seen. */
  offers(modelId: string): boolean | undefined {
    return this.#seen && routeTo(this.#seen, 'model', modelId) !== undefined;
  }

  /** False where the model that was chosen for the channel is not to be had in a session with these settings, and is in others. */
  fits(channelId: ChannelId, settings: SessionSettings | undefined): boolean {
    const choice = this.#choices.get(channelId);
    if (choice === undefined || currentOf(settings, 'model') === choice.modelId) return true;
    return (settings !== undefined && routeTo(settings, 'model', choice.modelId) !== undefined) || this.offers(choice.modelId) === false;
  }

  /** Gives the session the model that was chosen for its channel. Not ok: the process is of no use. */
  async apply(channelId: ChannelId, process: AgentProcess, sessionId: string): Promise<Exclude<SettingChange, { readonly code: 'unsupported' }>> {
    const choice = this.#choices.get(channelId);
    if (choice === undefined) return { ok: true };
    const { modelId } = choice;
    const change = currentOf(process.settings(sessionId), 'model') === modelId ? { ok: true as const } : await process.setModel(sessionId, modelId);
    if (!change.ok && change.code !== 'unsupported') return change;
    // Another one may have been chosen meanwhile; its own turn will tell of it.
    if (this.#choices.get(channelId) === choice) {
      if (change.ok) this.#choices.set(channelId, { modelId });
      else this.#choices.delete(channelId);
    }
    this.#tell(choice, change.ok ? 'switched' : 'unsupported_model');
    return { ok: true };
  }

  /** The first end stays: a channel may be left while a session in it is given the model. */
  #tell(choice: ModelChoice, ...[status]: Parameters<NonNullable<ModelChoice['answer']>>): void {
    if (this.#told.has(choice)) return;
    this.#told.add(choice);
    choice.answer?.(status);
  }
}
