// The code of the meta-schemas is what ajv makes of them: `node libs/protocol/tools/write-meta-schemas.mjs` writes it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './document.ts';

const folder = join(root, 'libs', 'protocol');

it('the generated code of the meta-schemas is current, and compiles nothing itself', async () => {
  const generator = (await import(join(folder, 'tools', 'meta-schemas.mjs'))) as {
    readonly metaSchemaFiles: () => Readonly<Record<string, string>>;
  };
  const files = generator.metaSchemaFiles();
  const written = await readdir(join(folder, 'src', 'generated'));
  expect(written.toSorted()).toEqual(Object.keys(files).toSorted());
  for (const [name, text] of Object.entries(files)) {
    expect(await readFile(join(folder, 'src', 'generated', name), 'utf8'), name).toBe(text);
    expect(text).not.toMatch(/new Function|\beval\(|require\(/);
  }
});
