// Regenerates src/generated/openapi.ts from the API's OpenAPI document:
//   node libs/client/tools/generate.mjs [file or URL] default: docs/reference/openapi.json
import { readFile, writeFile } from 'node:fs/promises';
import { clientTypes } from './client-types.mjs';

const source = process.argv[2] ?? new URL('../../../docs/reference/openapi.json', import.meta.url);
const isRemote = typeof source === 'string' && /^https?:/.test(source);
const document = isRemote ? await (await fetch(source)).json() : JSON.parse(await readFile(source, 'utf8'));
await writeFile(new URL('../src/generated/openapi.ts', import.meta.url), await clientTypes(document));
