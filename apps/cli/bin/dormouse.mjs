#!/usr/bin/env node
// Starts the built CLI. Plain JavaScript that any Node can read, so that it can report what is missing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const nodeMajorMin = 24;
const built = new URL('../dist/main.js', import.meta.url);
const ownNode = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));

if (!existsSync(built)) {
  console.error('dormouse: the command line tool is not built yet. Run: npm run build');
  process.exitCode = 1;
} else if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) {
  await import(built.href);
} else if (existsSync(ownNode)) {
  const run = spawnSync(ownNode, [fileURLToPath(built), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = run.status ?? 1;
} else {
  console.error(`dormouse: this needs Node ${nodeMajorMin} or newer; this is ${process.version}.`);
  process.exitCode = 1;
}
