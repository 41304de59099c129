/** A second agent at a broker of its own, in a process that can be killed, and a client that speaks plain HTTP to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../model/index.ts';

export interface CourierOptions {
  readonly nodePath: string;
  readonly relayUrl: string;
  readonly directory: string;
  readonly owner: string;
}

/** What came of a request; `unheard` when the broker was gone before it answered. */
export type Answer =
  | { readonly type: 'verdict'; readonly status: unknown; readonly eventId: unknown }
  | { readonly type: 'unheard' };

export interface Courier {
  readonly pid: number;
  /** Sends these bytes. Never rejects. */
  send(body: string): Promise<Answer>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Starts a broker; another one on the same directory goes on where the one before was killed. */
export async function startCourier({ nodePath, relayUrl, directory, owner }: CourierOptions): Promise<Courier> {
  const program = fileURLToPath(new URL('lone-broker.js', import.meta.url));
  const child = spawn(nodePath, [program, relayUrl, directory, owner], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  // A broken pipe to a killed process is not news.
  child.stdin.on('error', () => undefined);
  const [line]: unknown[] = await Promise.race([once(createInterface(child.stdout), 'line'), gone.then(() => [])]);
  const { endpoint, token } = members(typeof line === 'string' ? line : '{}');
  if (child.pid === undefined || typeof endpoint !== 'string' || typeof token !== 'string') {
    throw new Failure('not_seen', 'demo: the second broker did not start');
  }
  const headers = { 'content-type': 'application/json', 'authorization': `Bearer ${token}` };
  return {
    pid: child.pid,
    async send(body) {
      try {
        const response = await fetch(`${endpoint}/v1/action`, { method: 'POST', redirect: 'error', headers, body });
        const { status, outcome } = members(await response.text());
        return { type: 'verdict', status, eventId: members(JSON.stringify(outcome ?? {}))['eventId'] };
      } catch {
        return { type: 'unheard' };
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function members(text: string): Readonly<{ [name: string]: unknown }> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
