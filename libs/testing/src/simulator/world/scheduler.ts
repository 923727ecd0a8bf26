// The seeded scheduler: the one place where a universe's time passes. Every operation of every process is a step;
// chance decides when it happens and how it ends.
//
// Invariants:
//   X1. Between two steps every microtask has run: what a process does between two awaits is one indivisible moment.
//   X2. A dead process gets no answers: its operations never settle. Those already on the wire may still happen.
//   X3. Nothing here or behind it reads a clock or a random number of the machine.
//   X4. Where the stores live inside the process (`storesAreInside`: standalone), no write of an earlier life lands in
//       a later one: what was on its way when the process died has happened by then, or never will.
import type { Gate, Operation } from '@dormouse/adapter-memory';
import { type Clock, Fault } from '@dormouse/ports';
import { type FaultMix, noFaults } from '../faults/fault-mix.ts';
import type { Random } from './random.ts';
import { createStepQueue, type Timed } from './step-queue.ts';
import type { Trace } from '../trace.ts';

/** One process of the installation, through all its lives. */
export interface Process {
  readonly name: string;
  /** `name#life`; changes with every restart. */
  node: string;
  life: number;
  alive: boolean;
  pausedUntil: number;
  readonly faulty: boolean;
  /** Offset of its clock from true time. */
  skewMs: number;
}

interface Step extends Timed {
  readonly process: Process;
  readonly life: number;
  readonly operation: Operation;
  /** False for sleeping: nothing leaves the process. */
  readonly leaves: boolean;
  ghost: boolean;
  /** A sleep that was ended from inside. */
  cancelled: boolean;
  readonly apply: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: Fault) => void;
}

export interface SchedulerHooks {
  crashed(process: Process): void;
  paused(process: Process): void;
  /** After an operation was applied. */
  applied(node: string, operation: Operation): void;
  counted(path: string): void;
}

export interface Scheduler {
  readonly gate: Gate;
  /** Milliseconds of true time since the beginning. */
  readonly now: number;
  /** Steps so far: finer than time. */
  readonly moment: number;
  faults: FaultMix;
  /** Until when the named kind of store does not answer. */
  readonly outages: { bus: number; store: number };
  addProcess(name: string, options?: { readonly faulty?: boolean; readonly skewMs?: number }): Process;
  clockOf(process: Process): Clock;
  /** Something happens in the world itself, at this delay from now. */
  after(delayMs: number, what: string, happen: () => void): void;
  /** The next life of a process begins. */
  revive(process: Process): void;
  crash(process: Process): void;
  /** It has stopped in order: nothing of it is on the wire. */
  exit(process: Process): void;
  /** Runs one step and everything that follows from it at once; false when there is none. */
  step(): Promise<boolean>;
}

export const beginningMs = 1_764_000_000_000;

/** A promise that never settles: its process is dead. A fresh one each time, so that dead waiters are not retained. */
const never = (): Promise<never> => new Promise(() => {});
const sleeping: Operation = { name: 'sleep', about: '', kind: 'read' };

export function createScheduler(
  random: Random,
  trace: Trace,
  hooks: SchedulerHooks,
  storesAreInside = false,
): Scheduler {
  const queue = createStepQueue<Step>();
  const byNode = new Map<string, Process>();
  const outages = { bus: 0, store: 0 };
  let now = 0;
  let order = 0;
  let moment = 0;

  function push(step: Omit<Step, 'order' | 'ghost' | 'cancelled'> & { readonly ghost?: boolean }): Step {
    const queued: Step = { ...step, ghost: step.ghost ?? false, cancelled: false, order: (order += 1) };
    queue.push(queued);
    return queued;
  }

  function pass<T>(node: string, operation: Operation, apply: () => T): Promise<T> {
    const process = byNode.get(node);
    if (process === undefined || !process.alive || process.node !== node) return never(); // (X2)
    if (operation.name === 'feed.publish')
      return random.chance(scheduler.faults.failBefore)
        ? Promise.reject(new Fault('UNAVAILABLE', 'hint lost'))
        : Promise.resolve(apply());
    return new Promise((resolve, reject) => {
      const at = now + latencyOf(operation, random, process.faulty ? scheduler.faults.slowReadMs : 0);
      push({
        at,
        process,
        life: process.life,
        operation,
        leaves: process.faulty,
        apply,
        resolve: (value) => resolve(value as T),
        reject,
      });
    });
  }

  function crash(process: Process): void {
    process.alive = false;
    hooks.counted('crash');
    trace.step(now, process.node, 'CRASH');
    for (const step of queue.all) {
      if (step.process !== process || step.life !== process.life || !step.leaves || step.operation.kind !== 'write')
        continue;
      if (random.chance(0.3)) step.ghost = true; // already on the wire
    }
    hooks.crashed(process);
  }

  function sleep(process: Process, ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (!process.alive) return never();
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const { life } = process;
      const wake = (): void => resolve();
      const at = now + Math.max(0, ms);
      const step = push({
        at,
        process,
        life,
        operation: sleeping,
        leaves: false,
        apply: wake,
        resolve: wake,
        reject: wake,
      });
      const woken = (): void => {
        step.cancelled = true;
        resolve();
      };
      signal?.addEventListener('abort', woken, { once: true });
    });
  }

  function alarm(process: Process, ms: number, ring: () => void): () => void {
    let isOver = !process.alive;
    const apply = (): void => {
      if (!isOver) ring();
      isOver = true;
    };
    if (isOver) return () => {};
    const step = push({
      at: now + Math.max(0, ms),
      process,
      life: process.life,
      operation: sleeping,
      leaves: false,
      apply,
      resolve: () => {},
      reject: () => {},
    });
    return () => {
      isOver = true;
      step.cancelled = true;
    };
  }

  /** The outcome of a step whose process is alive. */
  function happen(step: Step): void {
    const { process, operation } = step;
    const hurt = process.faulty ? scheduler.faults : noFaults;
    if (random.chance(hurt.pause)) return pause(step);
    if (random.chance(hurt.crash / 2)) {
      if (step.leaves && operation.kind === 'write' && random.chance(0.5)) haunt(step);
      return crash(process);
    }
    const mayFail = step.leaves && !operation.name.startsWith('transport.');
    if (mayFail && (isDown(operation) || random.chance(hurt.failBefore)))
      return fail(step, 'UNAVAILABLE', 'fails before');
    if (mayFail && operation.kind === 'write' && random.chance(hurt.ghost)) {
      haunt(step);
      return fail(step, 'UNKNOWN_OUTCOME', 'fails, will happen later');
    }
    applyNow(step, hurt, mayFail);
  }

  function applyNow(step: Step, hurt: FaultMix, mayFail: boolean): void {
    const { process, operation } = step;
    trace.step(now, process.node, `${operation.name} ${operation.about}`);
    let value: unknown;
    try {
      value = step.apply();
      if (operation.name.endsWith('.publish') && random.chance(hurt.publishTwice)) {
        hooks.counted('published twice');
        value = step.apply();
      }
    } catch (refusal) {
      if (!(refusal instanceof Fault)) throw refusal;
      return step.reject(refusal);
    }
    hooks.applied(process.node, operation);
    if (random.chance(hurt.crash / 2)) return crash(process);
    if (operation.name === 'log.append' && random.chance(hurt.crashAfterAppend)) {
      hooks.counted('death just after an append');
      return crash(process);
    }
    if (mayFail && random.chance(hurt.failAfter)) {
      hooks.counted('unknown outcome');
      return fail(step, 'UNKNOWN_OUTCOME', 'happened, its answer is lost');
    }
    step.resolve(value);
  }

  function pause(step: Step): void {
    step.process.pausedUntil = now + 300 + random.below(4_000);
    hooks.counted('pause');
    trace.step(now, step.process.node, `PAUSE until ${step.process.pausedUntil.toFixed(0)}`);
    hooks.paused(step.process);
    push({ ...step, at: step.process.pausedUntil + random.below(40) });
  }

  function haunt(step: Step): void {
    hooks.counted('write applied late');
    push({ ...step, ghost: true, at: now + random.below(4_000) });
  }

  function fail(step: Step, code: 'UNAVAILABLE' | 'UNKNOWN_OUTCOME', how: string): void {
    trace.step(now, step.process.node, `${step.operation.name} ${step.operation.about} ${how}`);
    step.reject(new Fault(code, how));
  }

  const isDown = ({ name }: Operation): boolean => (isBus(name) ? outages.bus : outages.store) > now;

  const scheduler: Scheduler = {
    gate: { pass },
    get now() {
      return now;
    },
    get moment() {
      return moment;
    },
    faults: noFaults,
    outages,
    addProcess: (name, { faulty = false, skewMs = 0 } = {}) => ({
      name,
      node: name,
      life: 0,
      alive: false,
      pausedUntil: 0,
      faulty,
      skewMs,
    }),
    clockOf: (process) => ({
      now: () => beginningMs + Math.floor(now) + process.skewMs,
      sleep: (ms, signal) => sleep(process, ms, signal),
      alarm: (ms, ring) => alarm(process, ms, ring),
    }),
    after: (delayMs, what, apply) => {
      push({
        at: now + delayMs,
        process: world,
        life: 1,
        operation: { name: what, about: '', kind: 'write' },
        leaves: false,
        apply,
        resolve: () => {},
        reject: () => {},
      });
    },
    revive: (process) => {
      process.life += 1;
      process.node = process.faulty ? `${process.name}#${process.life}` : process.name;
      process.alive = true;
      process.pausedUntil = 0;
      byNode.set(process.node, process);
    },
    crash,
    exit: (process) => {
      process.alive = false;
      trace.step(now, process.node, 'EXIT');
    },
    step: async () => {
      const step = queue.pop();
      if (step === undefined) return false;
      now = Math.max(now, step.at);
      moment += 1;
      const { process } = step;
      const isHeard = process.alive && process.life === step.life && !step.cancelled;
      if (step.ghost) haunted(step);
      else if (isHeard && process.pausedUntil > now) push({ ...step, at: process.pausedUntil + random.below(40) });
      else if (isHeard) happen(step);
      if (step.ghost || isHeard) await settled(); // (X1) other steps have no effect
      return true;
    },
  };

  /** An operation of a dead process, or one whose answer failed, is applied late. */
  function haunted(step: Step): void {
    if (storesAreInside && step.process.life !== step.life) return; // (X4)
    trace.step(now, step.process.node, `${step.operation.name} ${step.operation.about} happens late`);
    try {
      step.apply();
    } catch (refusal) {
      if (!(refusal instanceof Fault)) throw refusal; // the refusal has no recipient
      return;
    }
    hooks.applied(step.process.node, step.operation);
  }

  const world = scheduler.addProcess('world');
  scheduler.revive(world);
  return scheduler;
}

const isBus = (name: string): boolean => /^(?:inputs|dispatches|notices)\./.test(name);

function latencyOf({ name, kind }: Operation, random: Random, slowReadMs: number): number {
  if (name.endsWith('.commit')) return 20 + random.below(160);
  if (name.endsWith('.poll')) return 1 + random.below(6);
  return 1 + random.below(12) + (kind === 'read' && slowReadMs > 0 ? random.below(slowReadMs) : 0);
}

/** All microtasks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
