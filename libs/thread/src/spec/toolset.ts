import type { LoadedToolset } from '../toolset.ts';

/** The tools that specs use: two harmless ones and one that needs a person's approval and is sent at most once. */
export const toolset: LoadedToolset = {
  toolServer: 'tools',
  name: 'Tools',
  sha256: 'manifest-1',
  tools: ['weather', 'clock', 'delete_everything'],
  destructive: ['delete_everything'],
  atMostOnce: ['delete_everything'],
  stale: false,
};
