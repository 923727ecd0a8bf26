// Regenerates src/generated/openapi.ts from the API's OpenAPI document:
//   node libs/client/tools/generate.mjs [file or URL] default: http://127.0.0.1:7420/openapi.json, a running standalone
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { clientTypes } from './client-types.mjs';

const source = process.argv[2] ?? 'http://127.0.0.1:7420/openapi.json';
const url = /^https?:/.test(source) ? new URL(source) : pathToFileURL(source);
await writeFile(new URL('../src/generated/openapi.ts', import.meta.url), await clientTypes(url));
