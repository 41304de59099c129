/** The desk of a process that nobody watches, under a policy that needs no owner: every request is answered where it comes in. */
import type { OpenPermissionDesk } from '../acp/permission-ports.ts';
import { CANCELLED, decidePermission } from './policy.ts';
import type { SynchronousPolicy } from './policy.ts';

export function answerAtOnce(policy: SynchronousPolicy): OpenPermissionDesk {
  return () => {
    let granting = true;
    return {
      requested({ params, turn }, reply) {
        void reply(granting && turn?.cancelling !== true ? decidePermission(policy, params).answer : CANCELLED);
      },
      turnCancelled: () => undefined,
      turnOver: () => undefined,
      stopping() {
        granting = false;
      },
      ended: () => undefined,
    };
  };
}
