/**
 * The pure rooms and every machine: no clock, chance, environment, process, network or disk. Imports are checked against
 * the few modules that compute and do nothing else; globals by name, as the linter does for whoever edits.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { importsOf, ROOT, sourceFiles } from './imports.ts';

/** Modules that are functions of their arguments. `node:crypto` for what needs no chance: the names below may be taken from it. */
const PURE_MODULES: ReadonlySet<string> = new Set(['node:buffer', 'node:crypto', 'tiny-secp256k1', 'nostr-tools/nip19', '@noble/curves/secp256k1.js']);
const PURE_CRYPTO: ReadonlySet<string> = new Set(['hash', 'createCipheriv', 'createHmac', 'timingSafeEqual']);
const IMPURE: ReadonlySet<string> = new Set([
  'process', 'Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'console',
  'crypto', 'Intl', 'globalThis', 'require', 'localStorage', 'navigator', 'WebSocket',
]);

const files = sourceFiles('compiler', 'src').filter((file) =>
  /^(compiler|src\/model|src\/nostr|src\/cards|src\/metrics|src\/persona|src\/broker\/wire|src\/owner\/view)\//.test(file) || /(\/|-)machine\.ts$/.test(file)
  || ['src/supervisor/gate.ts', 'src/supervisor/settle.ts', 'src/supervisor/answer.ts', 'src/supervisor/inbox/lanes.ts', 'src/supervisor/inbox/state.ts', 'src/supervisor/inbox/ready.ts',
    'src/supervisor/inbox/mid-turn.ts', 'src/supervisor/inbox/ending.ts', 'src/supervisor/steering/settle-given.ts', 'src/supervisor/sessions/end.ts',
    'src/permission/policy.ts', 'src/permission/admission.ts', 'src/permission/answer.ts',
    'src/permission/decision.ts', 'src/permission/entry.ts'].includes(file));

describe('pure rooms', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThan(50);
  });

  it.each(files)('%s computes and does nothing else', (file) => {
    expect(faultsOf(file, readFileSync(join(ROOT, file), 'utf8'))).toEqual([]);
    const modules = importsOf(file).filter((one) => !one.isOurs && !PURE_MODULES.has(one.to)).map((one) => one.to);
    expect(modules).toEqual([]);
  });
});

describe('the check itself', () => {
  it.each([
    ['a clock', 'const now = Date.now();'], ['a date', 'new Date();'], ['chance', 'Math.random();'],
    ['the environment', 'process.env.HOME;'], ['a timer', 'setTimeout(f, 1);'], ['random bytes', "import { randomBytes } from 'node:crypto';"],
    ['locale', 'new Intl.NumberFormat();'], ['a locale method', "'a'.localeCompare('b');"],
  ])('notices %s', (_, text) => {
    expect(faultsOf('x.ts', text)).not.toEqual([]);
  });

  it('passes what only looks like it', () => {
    expect(faultsOf('x.ts', "import { hash } from 'node:crypto'; const x = { Date: 1, process: 2 }; x.process; Math.max(1, 2);")).toEqual([]);
  });
});

function faultsOf(file: string, text: string): readonly string[] {
  const faults: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && IMPURE.has(node.text) && isReference(node)) faults.push(node.text);
    if (ts.isPropertyAccessExpression(node) && node.getText().startsWith('Math.random')) faults.push('Math.random');
    if (ts.isPropertyAccessExpression(node) && node.name.text.startsWith('toLocale')) faults.push(node.name.text);
    if (ts.isPropertyAccessExpression(node) && node.name.text === 'localeCompare') faults.push('localeCompare');
    if (ts.isImportDeclaration(node)) faults.push(...impureCrypto(node));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true));
  return faults;
}

/** A use of a name, not a member or key that happens to be called so. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isTypeReferenceNode(parent)) return false;
  return !(ts.isPropertyAssignment(parent) && parent.name === node)
    && !ts.isPropertySignature(parent) && !ts.isMethodDeclaration(parent);
}

function impureCrypto(node: ts.ImportDeclaration): readonly string[] {
  if (!ts.isStringLiteral(node.moduleSpecifier) || node.moduleSpecifier.text !== 'node:crypto') return [];
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return ['node:crypto as a whole'];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text).filter((name) => !PURE_CRYPTO.has(name));
}
