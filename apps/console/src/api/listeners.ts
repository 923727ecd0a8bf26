// Those who are called when something changes: what React subscribes to.

export interface Listeners {
  /** Until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly call: () => void;
}

export function createListeners(): Listeners {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call() {
      for (const listener of listeners) listener();
    },
  };
}
