/**
 * The outcome of an owner's command in chat, as Buzz has it: a system message (kind 40099) signed by the agent. Through the
 * journal like everything that skep writes itself: at most once for each command, and pursued until it is there.
 */
import { OWN_MARK } from '../nostr/index.ts';
import type { Tag } from '../nostr/index.ts';
import type { EventDraft } from './draft.ts';
import { openOwnEvents } from './own-message.ts';
import type { OwnEventsOptions } from './own-message.ts';
import type { CommandReport, PublishOutcome } from './ports.ts';
import { digestOf } from './wire/index.ts';

/** Of the relay where a channel changed; of an agent where it tells what came of a command (Buzz). */
const SYSTEM_MESSAGE_KIND = 40_099;
/** Kind 40099 wakes nobody; marked all the same, like everything skep writes for itself. */
const COMMAND_MARK: Tag = [OWN_MARK, 'command'];

export function openCommandReports(options: OwnEventsOptions): (report: CommandReport) => Promise<PublishOutcome> {
  const publish = openOwnEvents(options);
  return (report) => {
    const { commandId, content } = report;
    const turnId = `command:${commandId}`;
    const digest = digestOf(Buffer.from(JSON.stringify([commandId, content]), 'utf8'));
    return publish({ operationId: turnId, action: 'message.post', turnId, digest, draft: draftOf(report) });
  };
}

function draftOf({ commandId, channelId, content }: CommandReport): EventDraft {
  return { kind: SYSTEM_MESSAGE_KIND, tags: [['h', channelId], ['e', commandId], COMMAND_MARK], content };
}
