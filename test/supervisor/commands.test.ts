/** How long a command is good, and what is said of it. */
import { describe, expect, it } from 'vitest';
import { isStale, reportOf, statusOf } from '../../src/supervisor/commands.ts';
import type { OwnerCommand } from '../../src/supervisor/gate.ts';
import { channel, entryOf, message, ms } from './people.ts';

const AT_SEC = 1_700_000_000;
const NOW = ms(AT_SEC * 1000);

function stale(command: OwnerCommand, { bySec = 0, startedBySec = -1_000 }: { readonly bySec?: number; readonly startedBySec?: number }): boolean {
  return isStale(command, entryOf(message({ content: command, at: AT_SEC + bySec }), 0), NOW, ms((AT_SEC + startedBySec) * 1000));
}

describe('a command', () => {
  it.each(['!cancel', '!rotate', '!shutdown'] as const)('%s is good for five minutes', (command) => {
    expect([-301, -300, 0, 300, 301].map((bySec) => stale(command, { bySec }))).toEqual([true, false, false, false, true]);
  });

  it('that stops is about the run it was sent in; the others are about what goes on in the channel', () => {
    expect([-10, -1, 0].map((bySec) => stale('!shutdown', { bySec, startedBySec: -1 }))).toEqual([true, false, false]);
    expect((['!cancel', '!rotate'] as const).map((command) => stale(command, { bySec: -10, startedBySec: -1 }))).toEqual([false, false]);
  });

  it('is told with what came of it', () => {
    expect(statusOf('!cancel', 1)).toBe('sent');
    expect(statusOf('!cancel', 0)).toBe('no_active_turn');
    expect(statusOf('!rotate', 0)).toBe('rotated');
    expect(statusOf('!shutdown', 0)).toBe('stopping');
    const entry = entryOf(message({ content: '!cancel' }), 0);
    expect(reportOf('!cancel', entry, 'sent')).toEqual({
      commandId: entry.eventId, channelId: channel, content: '{"type":"owner_command","command":"!cancel","status":"sent"}',
    });
  });
});
