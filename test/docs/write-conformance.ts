// Writes the column "checked by" of docs/obligations.md: `node test/docs/write-obligations.ts`, then `npm run format`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, repositoryFiles, root } from './document.ts';
import { withProofs } from './obligations.ts';

const specs = repositoryFiles((path) => /\.(spec|contract)\.ts$/.test(path) && !path.startsWith('test/docs/'));
const page = readDocument('docs/obligations.md');
writeFileSync(join(root, page.path), withProofs(page, specs.map(readDocument)));
