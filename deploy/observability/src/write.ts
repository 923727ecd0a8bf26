// Writes the dashboards and the rules: `node --conditions=dormouse-source deploy/observability/src/write.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { observabilityFiles } from './files.ts';

const root = join(import.meta.dirname, '..', '..', '..');
for (const [path, text] of observabilityFiles()) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
