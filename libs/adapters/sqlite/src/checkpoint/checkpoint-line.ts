// How another thread checkpoints the writer's log while the writer goes on: one state in shared memory.
//
//   absent → starting → free → asked → carried or failed → free → …, and from each of them → over
//
// Invariants:
//   D1. Each state is left by one side only: `starting` and `asked` by the checkpointing thread, the others by the
//       writer; the side that ends the line leaves any of them. No step overwrites another.
//   D2. One checkpoint is requested at a time; the next one may be requested when the answer was taken.
export const lineBytes = 4;

/** `workerData` of the checkpointing thread. */
export interface CheckpointSetup {
  readonly file: string;
  readonly line: SharedArrayBuffer;
}

export const checkpointStates = ['absent', 'starting', 'free', 'asked', 'carried', 'failed', 'over'] as const;
type State = (typeof checkpointStates)[number];

/** The writer's end. */
export interface CheckpointRequest {
  /** `absent` is answered once: then the caller has to start the thread. `no` while it starts or is busy. */
  ask(): 'asked' | 'absent' | 'no';
  /** The answer, once; null while there is none. `failed`: nothing was checkpointed. */
  take(): 'carried' | 'failed' | null;
  /** Waits until the requested checkpoint is answered, `ms` at most. */
  wait(ms: number): void;
}

/** The end of the checkpointing thread. */
export interface CheckpointWork {
  ready(): void;
  /** Waits until a checkpoint is requested; false when the line is over. */
  next(): boolean;
  answer(answer: 'carried' | 'failed'): void;
}

export interface CheckpointLine extends CheckpointRequest, CheckpointWork {
  /** A checkpoint that is running is finished, but not answered. */
  end(): void;
}

/** One for each end, over the same memory. */
export function createCheckpointLine(memory: SharedArrayBuffer): CheckpointLine {
  const numbers = new Int32Array(memory);
  const stateNow = (): State => checkpointStates[Atomics.load(numbers, 0)] ?? 'over';

  /** (D1) */
  function step(from: State, to: State): boolean {
    const left = checkpointStates.indexOf(from);
    if (Atomics.compareExchange(numbers, 0, left, checkpointStates.indexOf(to)) !== left) return false;
    Atomics.notify(numbers, 0);
    return true;
  }

  return {
    ask: () => (step('absent', 'starting') ? 'absent' : step('free', 'asked') ? 'asked' : 'no'),
    take: () => (step('carried', 'free') ? 'carried' : step('failed', 'free') ? 'failed' : null),
    wait: (ms) => void Atomics.wait(numbers, 0, checkpointStates.indexOf('asked'), ms),
    ready: () => void step('starting', 'free'),
    next: () => {
      for (let state = stateNow(); state !== 'asked'; state = stateNow()) {
        if (state === 'over') return false;
        Atomics.wait(numbers, 0, checkpointStates.indexOf(state));
      }
      return true;
    },
    answer: (answer) => void step('asked', answer),
    end: () => {
      Atomics.store(numbers, 0, checkpointStates.indexOf('over'));
      Atomics.notify(numbers, 0);
    },
  };
}
