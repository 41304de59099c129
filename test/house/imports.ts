/** The imports of every source file, read by TypeScript's own scanner, and the room each file belongs to. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Import {
  /** Paths relative to the root, with `/`. */
  readonly from: string;
  /** A path relative to the root, or the name of a package. */
  readonly to: string;
  readonly isOurs: boolean;
}

/** Every `.ts` file below the given folders. */
export function sourceFiles(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.split(sep).join('/')}`),
  );
}

/** Static, dynamic and type imports alike: a direction holds for types too. */
export function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => {
    if (!fileName.startsWith('.')) return { from: file, to: fileName, isOurs: false };
    const target = relative(ROOT, resolve(ROOT, dirname(file), fileName));
    return { from: file, to: target.split(sep).join('/'), isOurs: true };
  });
}

/** `src/<room>`, the top folder, or the file itself for what stands in no room (`src/root.ts`). */
export function roomOf(file: string): string {
  const [top = '', second = '', ...rest] = file.split('/');
  if (top !== 'src') return top;
  return rest.length === 0 ? file : `src/${second}`;
}
