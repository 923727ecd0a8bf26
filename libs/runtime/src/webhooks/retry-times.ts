// When a delivery is tried again: eight attempts, the last about 28 hours after the first. Pure.
import { webhookFailingMsMax } from '@dormouse/ports';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds before each attempt. */
export const attemptDelaysMs: readonly number[] = [
  ...[0, 5 * second, 5 * minute, 30 * minute],
  ...[2 * hour, 5 * hour, 10 * hour, 10 * hour],
];

/** Of a delay, to both sides. */
const jitter = 0.2;

/**
 * Milliseconds from the end of an attempt to the next one; null when that was the last. `tries` counts those that were
 * made (1, 2, …), `fraction` is from 0 to below 1.
 */
export function retryDelayMs(tries: number, fraction: number): number | null {
  const delayMs = attemptDelaysMs[tries];
  return delayMs === undefined ? null : Math.round(delayMs * (1 - jitter + 2 * jitter * fraction));
}

/** Whether an endpoint that has failed since then, without a success, has failed for too long. */
export const isFailingTooLong = (failingSince: number, now: number): boolean =>
  now - failingSince >= webhookFailingMsMax;
