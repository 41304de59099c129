import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findNotExecutable, findProgram } from '../../src/acp/index.ts';
import { temporaryDirectory } from '../setup/temp.ts';

it('finds a program as the system will', () => {
  const cwd = temporaryDirectory();
  const bin = join(cwd, 'bin');
  mkdirSync(join(bin, 'folder'), { recursive: true });
  writeFileSync(join(bin, 'agent'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(bin, 'text'), '');
  chmodSync(join(bin, 'text'), 0o644);
  const has = (command: string, path?: string): boolean =>
    findProgram({ command, cwd, env: path === undefined ? {} : { PATH: path } }) !== undefined;
  expect(has('agent', `/nowhere:${bin}`)).toBe(true);
  expect(has('agent', 'bin')).toBe(true);
  expect(findProgram({ command: 'agent', cwd, env: { PATH: '/nowhere:bin' } })).toBe(join(bin, 'agent'));
  expect(has('agent', '/nowhere')).toBe(false);
  expect(has('agent')).toBe(false);
  expect(has('sh')).toBe(true);
  expect(has('./bin/agent', '')).toBe(true);
  expect(has(join(bin, 'agent'), '')).toBe(true);
  expect(has('./agent', bin)).toBe(false);
  expect([has('text', bin), has('folder', bin), has('', bin)]).toEqual([false, false, false]);
  // What cannot be looked at is passed over: a file among the folders of PATH, a name beyond what a file may have.
  const path = `${join(bin, 'text')}:${bin}`;
  expect([has('agent', path), findNotExecutable({ command: 'text', cwd, env: { PATH: path } })]).toEqual([true, join(bin, 'text')]);
  expect([findNotExecutable({ command: 'none', cwd, env: { PATH: path } }), findNotExecutable({ command: 'x'.repeat(300), cwd, env: { PATH: bin } })]).toEqual([undefined, undefined]);
});
