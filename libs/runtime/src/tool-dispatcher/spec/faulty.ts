// A port of which one method fails: before it does its work, or after it (the outcome is lost).

/** Fails whenever `reason` gives an error for the arguments. */
export function faulty<Port extends object>(
  port: Port,
  method: keyof Port,
  reason: (given: readonly unknown[]) => Error | null,
  when: 'before' | 'after' = 'before',
): Port {
  return new Proxy(port, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (name !== method || typeof own !== 'function') return own;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        const done = when === 'after' ? [await Reflect.apply(own, target, given)] : null;
        const error = reason(given);
        if (error !== null) throw error;
        return done === null ? Reflect.apply(own, target, given) : done[0];
      };
    },
  });
}
