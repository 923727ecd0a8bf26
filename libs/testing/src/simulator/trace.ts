// What happened, step by step: a hash that two runs of one seed must share, and on request the lines for a reader.

export interface Trace {
  /** One step; `line` is only built when it is read. */
  step(at: number, node: string, what: string): void;
  /** An event worth reading that is not a step of its own. */
  note(at: number, node: string, what: () => string): void;
  hash(): string;
  readonly lines: readonly string[];
}

export function createTrace(readable: boolean): Trace {
  const lines: string[] = [];
  let low = 0x811c9dc5;
  let high = 0x1b873593;
  const add = (text: string): void => {
    for (let index = 0; index < text.length; index += 1) {
      low = Math.imul(low ^ text.charCodeAt(index), 0x01000193);
      high = Math.imul(high ^ low, 0x85ebca6b) + index;
    }
  };
  const write = (at: number, node: string, what: string): void =>
    void lines.push(`${at.toFixed(0).padStart(6)}  ${node.padEnd(14)}  ${what}`);
  return {
    step: (at, node, what) => {
      add(what);
      add(node);
      low ^= at | 0;
      if (readable && what !== 'sleep ') write(at, node, what); // waking up is a step that is not written
    },
    note: (at, node, what) => {
      if (readable) write(at, node, what());
    },
    hash: () => (low >>> 0).toString(16).padStart(8, '0') + (high >>> 0).toString(16).padStart(8, '0'),
    lines,
  };
}
