/** No more than some at once; whoever has to wait goes in the order in which he came. */
export type Turnstile = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createTurnstile(insideMax: number): Turnstile {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return async (work) => {
    if (inside < insideMax) inside++;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // whoever leaves gives his place
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inside--;
      else next();
    }
  };
}
