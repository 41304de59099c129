import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Pure rooms: no clock, chance, input, output or process. test/house/purity.test.ts watches their imports. */
const PURE = [
  'compiler/**/*.ts', 'src/model/**/*.ts', 'src/nostr/**/*.ts', 'src/broker/wire/**/*.ts', 'src/cards/**/*.ts', 'src/owner/view/**/*.ts',
  'src/persona/**/*.ts', 'src/metrics/**/*.ts',
  'src/permission/{admission,answer,decision,entry,policy}.ts',
  'src/**/machine.ts', 'src/**/*-machine.ts', 'src/supervisor/gate.ts', 'src/supervisor/settle.ts',
  'src/supervisor/inbox/{ending,lanes,mid-turn,ready,state}.ts', 'src/supervisor/steering/settle-given.ts', 'src/supervisor/sessions/end.ts',
];
const IMPURE_GLOBALS = [
  'process', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance', 'fetch', 'console', 'crypto',
  'Intl', 'globalThis',
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', 'test/**/*.mjs'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error', { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // An interface promises; the implementation may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-nullish-coalescing': 'error',
      // There are no enums, and to look for them at every assignment is the dearest of all rules.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      'eqeqeq': 'error',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'ExportAllDeclaration', message: 'A door names what goes through it.' },
        { selector: 'TSEnumDeclaration', message: 'A union by status says the same.' },
      ],
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
    },
  },
  {
    files: PURE,
    rules: {
      'no-restricted-globals': ['error', ...IMPURE_GLOBALS],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Chance is a parameter.' },
        { object: 'Date', property: 'now', message: 'Time is a parameter.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'NewExpression[callee.name="Date"]', message: 'Time is a parameter.' },
        { selector: 'ExportAllDeclaration', message: 'A door names what goes through it.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'fixtures/**/*.ts'],
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A test hands wrong values in on purpose and reads matchers that are typed `any`.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
  { files: ['*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', URL: 'readonly' } },
    rules: { 'no-restricted-syntax': 'off', 'no-console': 'off', '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
);
