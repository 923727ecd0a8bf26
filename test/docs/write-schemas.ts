// Writes the JSON Schemas of RAP's messages: `node --conditions=dormouse-source test/docs/write-schemas.ts`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageSchemas } from '@dormouse/protocol';
import { format } from 'prettier';

const folder = fileURLToPath(new URL('../../libs/protocol/schemas/', import.meta.url));
for (const [name, schema] of Object.entries(messageSchemas()))
  writeFileSync(`${folder}${name}.json`, await format(JSON.stringify(schema), { parser: 'json', printWidth: 120 }));
