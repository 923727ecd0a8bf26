// Writes docs/reference/metrics.md: `node --conditions=dormouse-source test/docs/write-metrics.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './document.ts';
import { metricsPage, metricsPagePath } from './metrics-page.ts';

const file = join(root, metricsPagePath);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, metricsPage());
