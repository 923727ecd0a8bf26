// The one seam between a process and the world: every operation that a port awaits passes the gate. The gate decides
// when an operation runs and how it ends; it does not know what the operation does.
//
// Invariants:
//   G1. `apply` is the whole effect of the operation, atomic and synchronous. Until it runs, nothing has happened.
//   G2. A gate may run `apply` at once, later, twice (a producer's duplicate), after it has rejected (a ghost) or never
//       (a crash): every adapter in this library makes each of these a behaviour of a real store.

export interface Operation {
  /** Port and method, e.g. `log.append`. */
  readonly name: string;
  /** What it is about: a thread, a call, a partition. */
  readonly about: string;
  readonly kind: 'read' | 'write';
}

export interface Gate {
  /** `node` is one process in one life: after a crash the process restarts under another name. */
  pass<T>(node: string, operation: Operation, apply: () => T): Promise<T>;
}

/** Applies at once, answers on a microtask, never fails. */
export const openGate: Gate = {
  async pass(_node, _operation, apply) {
    return apply();
  },
};

/** A process's own way through the gate. */
export interface Passage {
  read<T>(name: string, about: string, apply: () => T): Promise<T>;
  write<T>(name: string, about: string, apply: () => T): Promise<T>;
}

export function passage(gate: Gate, node: string): Passage {
  return {
    read: (name, about, apply) => gate.pass(node, { name, about, kind: 'read' }, apply),
    write: (name, about, apply) => gate.pass(node, { name, about, kind: 'write' }, apply),
  };
}
