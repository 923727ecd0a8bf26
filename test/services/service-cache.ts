// The place of things that are built once per machine: outside every repository.
import { homedir } from 'node:os';
import { join } from 'node:path';

export const serviceCache = join(homedir(), '.cache', 'dormouse');
