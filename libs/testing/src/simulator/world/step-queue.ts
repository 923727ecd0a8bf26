// Steps that wait for their moment: a binary heap by time, then by order of arrival.

export interface Timed {
  at: number;
  order: number;
}

export interface StepQueue<Step extends Timed> {
  push(step: Step): void;
  pop(): Step | undefined;
  /** In no particular order. */
  readonly all: readonly Step[];
}

const isBefore = (left: Timed, right: Timed): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

export function createStepQueue<Step extends Timed>(): StepQueue<Step> {
  const heap: Step[] = [];
  const at = (index: number): Step => {
    const step = heap[index];
    if (step === undefined) throw new RangeError(`no step at ${index}`);
    return step;
  };
  const swap = (left: number, right: number): void => {
    const step = at(left);
    heap[left] = at(right);
    heap[right] = step;
  };
  return {
    all: heap,
    push: (step) => {
      heap.push(step);
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (!isBefore(at(index), at(parent))) break;
        swap(index, parent);
        index = parent;
      }
    },
    pop: () => {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || heap.length === 0) return first;
      heap[0] = last;
      for (let index = 0; ;) {
        const left = 2 * index + 1;
        const right = left + 1;
        let least = index;
        if (left < heap.length && isBefore(at(left), at(least))) least = left;
        if (right < heap.length && isBefore(at(right), at(least))) least = right;
        if (least === index) return first;
        swap(index, least);
        index = least;
      }
    },
  };
}
