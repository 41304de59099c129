/**
 * Between a process and the desk that answers what it asks: a bug of the desk is no grant, keeps no agent waiting, and
 * answers nothing twice.
 */
import type { Log } from '../model/index.ts';
import type { PermissionAnswer, PermissionDesk, PermissionReply } from './permission-ports.ts';

const CANCELLED: PermissionAnswer = { outcome: 'cancelled' };

export function guardedDesk(desk: PermissionDesk, log: Log): PermissionDesk {
  const tried = (call: () => void, onFailure?: () => void): void => {
    try {
      call();
    } catch (error) {
      log.error('the permission desk failed', { error: error instanceof Error ? error.stack : String(error) });
      onFailure?.();
    }
  };
  return {
    requested(request, reply) {
      let answered = false;
      const once: PermissionReply = (answer) => {
        if (answered) throw new TypeError('a permission request has one answer');
        answered = true;
        return reply(answer);
      };
      tried(() => { desk.requested(request, once); }, () => {
        if (!answered) void once(CANCELLED);
      });
    },
    turnCancelled: (turnId, overtime) => { tried(() => { desk.turnCancelled(turnId, overtime); }); },
    turnOver: (turnId) => { tried(() => { desk.turnOver(turnId); }); },
    stopping: () => { tried(() => { desk.stopping(); }); },
    ended: () => { tried(() => { desk.ended(); }); },
  };
}
