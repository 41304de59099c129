/** A grandchild: writes its own environment and command line, and its parent's, to the file it is given. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
const seen = ['self', process.ppid]
  .flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`])
  .map((path) => readFileSync(path, 'latin1'));
writeFileSync(`${file}.part`, JSON.stringify(seen));
renameSync(`${file}.part`, file);
