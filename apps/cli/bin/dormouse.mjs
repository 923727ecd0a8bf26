#!/usr/bin/env node
// Starts the built CLI. Plain JavaScript that any Node can read, so that it can report what is missing.
import { existsSync, readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [, wanted] = /(\d+(?:\.\d+)*)/.exec(engines.node);
const built = new URL('../dist/main.js', import.meta.url);

if (!isAtLeast(process.versions.node, wanted)) {
  console.error(`dormouse: this needs Node ${wanted} or newer; this is ${process.version}.`);
  process.exitCode = 1;
} else if (existsSync(built)) {
  await import(built.href);
} else {
  console.error('dormouse: the command line tool is not built yet. Run: npm run build');
  process.exitCode = 1;
}

function isAtLeast(version, least) {
  const [have, want] = [version, least].map((text) => text.split('.').map(Number));
  for (const [place, number] of want.entries()) if (have[place] !== number) return have[place] > number;
  return true;
}
