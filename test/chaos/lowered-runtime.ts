// The runtime whose processors have few places for completions; see `lowered-limits.ts`.
import { createThreadProcessor as create, type Service, type ThreadProcessorDeps } from '@dormouse/runtime';
import { completionPlaces } from './places.ts';

export * from '@dormouse/runtime';

export const createThreadProcessor = (deps: ThreadProcessorDeps): Service =>
  create({ ...deps, settings: { ...deps.settings, completionsInFlightMax: completionPlaces } });
