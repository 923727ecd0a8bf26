// The declarations of a package as one tree: those of its own entry, and of the packages of ours that they name.
//
// T1  Only files that an entry reaches are copied.
// T2  Specifiers are those of JavaScript (`./tool.js`), which every resolution of the compiler reads.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const specifier = /(\bfrom\s+|\bimport\(|\bimport\s+)(['"])([^'"]+)\2/g;

/** Copies what `entry` (a declaration in a `dist` folder) reaches into `stage`, and returns the entry's new place. */
export function copyTypes(entry, { own, stage }) {
  const waiting = [entry];
  const seen = new Set(waiting);
  for (const file of waiting) {
    const text = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
    const place = placeOf(file, stage);
    const rewritten = text.replaceAll(specifier, (whole, before, quote, named) => {
      const found = declarationOf(named, file, own);
      if (found === null) return whole;
      if (!seen.has(found)) {
        seen.add(found);
        waiting.push(found); // (T1)
      }
      const path = relative(dirname(place), placeOf(found, stage)).replace(/\.d\.ts$/, '.js');
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`; // (T2)
    });
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, rewritten);
  }
  return placeOf(entry, stage);
}

/** The file that a specifier names; null for a package of a third party. */
function declarationOf(named, file, own) {
  if (named.startsWith('.')) return resolve(dirname(file), named).replace(/\.[jt]s$/, '.d.ts');
  const folder = own.get(named);
  return folder === undefined ? null : join(root, folder, 'dist', 'index.d.ts');
}

/** `libs/json/dist/read.d.ts` is `types/json/read.d.ts`. */
function placeOf(file, stage) {
  const [folder, path] = relative(root, file).split('/dist/');
  return join(stage, 'types', folder.split('/').at(-1), path);
}
