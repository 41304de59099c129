/** Secrets in the arguments of a program. */
import { expect, it } from 'vitest';
import { veiledArguments } from '../../src/model/index.ts';

it.each([
  ['behind a flag', ['--api-key', 'abc def', 'x'], ['--api-key', '<redacted>', 'x']],
  ['with its flag', ['--token=abcdef'], ['--token=<redacted>']],
  ['of a login', ['-u', 'me:abcdef', '-v'], ['-u', 'me:<redacted>', '-v']],
  ['in a command', ['-c', 'MY_TOKEN=abcdef run'], ['-c', 'MY_TOKEN=<redacted> run']],
  ['by its form', ['acp', 'sk-abcdefghijkl'], ['acp', '<redacted>']],
  ['that is none', ['--acp', '--model', 'opus', '--token-limit', '--verbose'], ['--acp', '--model', 'opus', '--token-limit', '--verbose']],
  ['in no argument', [], []],
])('a secret %s', (_, args, shown) => {
  expect(veiledArguments(args)).toEqual(shown);
});
