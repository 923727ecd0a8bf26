// Where what is built once per machine lives: outside every repository.
import { homedir } from 'node:os';
import { join } from 'node:path';

export const serviceCache = join(homedir(), '.cache', 'dormouse');
