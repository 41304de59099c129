/** `npm run test:real` where the stock agent programs cannot be had: it says why, and fails nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../setup/temp.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/test-real.mjs', import.meta.url));

/** With a registry that refuses, and empty caches. */
async function testReal(programs: string, names: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<{ readonly code: number | null; readonly said: string; readonly complained: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...names], {
    env: { ...process.env, SKEP_AGENTS: programs, npm_config_cache: temporaryDirectory(), npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, said, complained };
}

it('skips each program that cannot be fetched, with the reason, and leaves nothing half fetched', async () => {
  const programs = join(temporaryDirectory(), 'agents');
  const { code, said } = await testReal(programs, ['sdk', 'gemini']);
  expect(code).toBe(0);
  for (const skipped of ['sdk: @agentclientprotocol/sdk@', 'gemini: @google/gemini-cli@']) {
    expect(said).toMatch(new RegExp(`^test:real: skipped: ${skipped}\\S+ cannot be fetched: .*ECONNREFUSED 127\\.0\\.0\\.1:1$`, 'm'));
  }
  expect(said).toMatch(/\ntest:real: nothing to test\n$/);
  expect(readdirSync(programs)).toEqual([]);
});

it('waits no longer than it says for a registry that takes the call and is silent', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const sockets = new Set<Socket>();
  silent.on('connection', (socket) => { sockets.add(socket); });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const programs = join(temporaryDirectory(), 'agents');
  const { code, said } = await testReal(programs, ['sdk'], { npm_config_registry: `http://127.0.0.1:${port}`, SKEP_FETCH_MS: '4000' });
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/skipped: sdk: \S+ cannot be fetched: it took longer than 4 s\ntest:real: nothing to test\n$/) });
  expect(sockets.size).toBeGreaterThan(0);
  expect(readdirSync(programs)).toEqual([]);
});

it('knows the programs by name', async () => {
  expect(await testReal(temporaryDirectory(), ['gemini', 'hal'])).toEqual({ code: 2, said: '', complained: 'test:real: there is no "hal", expected sdk, gemini, codex, claude\n' });
});
