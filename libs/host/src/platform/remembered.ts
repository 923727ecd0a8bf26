// A reading that several gauges share, for as long as it is fresh.

/** What was read last; read again once it is older than `freshForMs`. A read that fails is shared like any other. */
export function remembered<Value>(read: () => Promise<Value>, freshForMs: number): () => Promise<Value> {
  let last: Promise<Value> | null = null;
  let readAt = 0;
  return () => {
    const now = performance.now();
    if (last !== null && now - readAt < freshForMs) return last;
    readAt = now;
    last = read();
    return last;
  };
}
