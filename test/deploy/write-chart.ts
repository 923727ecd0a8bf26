// Writes the files of the chart that are made from others:
// `node --conditions=dormouse-source test/deploy/write-chart.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../docs/document.ts';
import { chartFiles } from './chart-files.ts';

for (const [path, text] of chartFiles()) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
