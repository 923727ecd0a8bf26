// Writes the last three columns of docs/conformance.md: `node test/docs/write-conformance.ts`, then `npm run format`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openReasons, tierIn, withProofs } from './conformance.ts';
import { readDocument, repositoryFiles, root } from './document.ts';

const specs = repositoryFiles((path) => /\.(spec|contract)\.ts$/.test(path) && !path.startsWith('test/docs/'));
const tier = (config: string) => tierIn(readDocument(config).text);
const basis = { standalone: tier('vitest.config.ts'), cluster: tier('vitest.cluster.config.ts'), openReasons };
const page = readDocument('docs/conformance.md');
writeFileSync(join(root, page.path), withProofs(page, specs.map(readDocument), basis));
