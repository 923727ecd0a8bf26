// How this tool is called in hints, and what the package of the SDK is called: both from its own package.json, where
// the scope is written. The name `dormouse` alone belongs to another package, which npx would fetch.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This package's folder, from its source, its build or its bundle. */
export const packageFolder = folderAbove(fileURLToPath(import.meta.url));

const { name, version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
};

export const toolVersion = version;

/** npx and the name of this package: the start of a command in a hint. */
export const cli = `npx ${name}`;

export const sdkPackage = `${name.slice(0, name.indexOf('/'))}/tool-server`;

function folderAbove(path: string): string {
  const folder = dirname(path);
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(folder);
}
