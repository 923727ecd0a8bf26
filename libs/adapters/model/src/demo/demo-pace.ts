// How fast the demo model answers: `parameters.pace_ms` is the time before each piece of its answer. Without it the
// whole answer comes at once; with it, even with 0, the model is asked like that of a provider, off the thread's lane.
import type { Clock, ModelConfig, ModelPart, ModelRequest } from '@dormouse/ports';
import type { SettingProblem } from '../scripted/script.ts';

const paceMsMax = 60_000;

/** Milliseconds; null for a model that answers at once. */
export function demoPaceMs({ parameters }: ModelConfig): number | null {
  const pace = parameters['pace_ms'];
  return isPace(pace) ? pace : null;
}

export function demoPaceProblems({ parameters }: ModelConfig): readonly SettingProblem[] {
  const pace = parameters['pace_ms'];
  if (pace === undefined || isPace(pace)) return [];
  return [{ pointer: '/parameters/pace_ms', detail: `must be a whole number of milliseconds from 0 to ${paceMsMax}` }];
}

const isPace = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= paceMsMax;

export function inPace(clock: Clock, request: ModelRequest, parts: AsyncIterable<ModelPart>): AsyncIterable<ModelPart> {
  const paceMs = demoPaceMs(request.model);
  return paceMs === null || paceMs === 0 ? parts : paced(clock, request.signal, paceMs, parts);
}

async function* paced(
  clock: Clock,
  signal: AbortSignal,
  paceMs: number,
  parts: AsyncIterable<ModelPart>,
): AsyncIterable<ModelPart> {
  for await (const part of parts) {
    await clock.sleep(paceMs, signal);
    signal.throwIfAborted();
    yield part;
  }
}
