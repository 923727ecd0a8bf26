// Writes src/generated/*.ts:
//   node libs/protocol/tools/write-meta-schemas.mjs
import { writeFile } from 'node:fs/promises';
import { metaSchemaFiles } from './meta-schemas.mjs';

for (const [name, text] of Object.entries(metaSchemaFiles()))
  await writeFile(new URL(`../src/generated/${name}`, import.meta.url), text);
