/** What a verb loads before it does anything: an agent's first turn waits for `skep mcp`, and some wait no longer than a moment. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { ROOT } from './imports.ts';

/** Files and packages that are loaded with the file, types and dynamic imports aside. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.ES2023);
  for (const statement of source.statements) {
    const isImport = ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly;
    if (!isImport && !isExport) continue;
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) continue;
    const { text } = moduleSpecifier;
    if (text.startsWith('.')) loadedWith(relative(ROOT, resolve(ROOT, dirname(file), text)), seen);
    else seen.add(text);
  }
  return seen;
}

const packagesOf = (...files: readonly string[]): readonly string[] =>
  [...new Set(files.flatMap((file) => [...loadedWith(file)]))].filter((name) => !name.startsWith('node:') && !name.endsWith('.ts'));

it('skep mcp loads the client and the MCP library, and nothing of the supervisor', () => {
  const packages = packagesOf('src/cli/main.ts', 'src/cli/mcp.ts', 'src/mcp/index.ts');
  expect(packages.filter((name) => /^(?:libsql|pino|ws|yaml|p-queue|diff|tiny-secp256k1|@agentclientprotocol)/.test(name))).toEqual([]);
  expect(packages).toContain('@modelcontextprotocol/server');
});

it('skep up loads what that leaves out: the control', () => {
  expect(packagesOf('src/cli/up.ts')).toEqual(expect.arrayContaining(['libsql', 'pino', 'yaml']));
});
