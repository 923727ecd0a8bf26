/**
 * Owns: the time a handler may take, which is paused while it waits for a user. T11
 */
const timerMsMax = 2 ** 31 - 1;
/** How late the timer may be before it counts as lost. */
const lateMsMax = 5_000;

export interface Deadline {
  /** Time does not count until the promise settles. */
  readonly pausedFor: <Value>(waiting: Promise<Value>) => Promise<Value>;
  readonly stop: () => void;
  /** The time is over and its timer has not said so: in Workers a timer ends with the request that has set it. */
  readonly isLost: () => boolean;
}

export function createDeadline(ms: number, expired: () => void): Deadline {
  let leftMs = ms;
  let since = Date.now();
  let pauses = 0;
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    since = Date.now();
    timer = setTimeout(
      () => {
        leftMs -= Date.now() - since;
        if (leftMs <= 0) expired();
        else begin();
      },
      Math.max(0, Math.min(leftMs, timerMsMax)),
    );
  };
  const halt = (): void => {
    clearTimeout(timer);
    leftMs -= Date.now() - since;
  };
  begin();
  return {
    async pausedFor(waiting) {
      pauses += 1;
      if (pauses === 1) halt();
      try {
        return await waiting;
      } finally {
        pauses -= 1;
        if (pauses === 0 && leftMs !== Number.NEGATIVE_INFINITY) begin();
      }
    },
    stop() {
      clearTimeout(timer);
      leftMs = Number.NEGATIVE_INFINITY;
    },
    isLost: () => pauses === 0 && Number.isFinite(leftMs) && Date.now() - since > leftMs + lateMsMax,
  };
}
