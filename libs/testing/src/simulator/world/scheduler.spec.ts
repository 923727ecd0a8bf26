// The scheduler's own guarantees: time passes only here, a dead process gets no answer, a seed repeats.
import { Fault } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { noFaults } from '../faults/fault-mix.ts';
import { createRandom } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { createTrace } from '../trace.ts';

const write = { name: 'log.append', about: 't', kind: 'write' } as const;
const silent = { crashed: () => {}, paused: () => {}, applied: () => {}, counted: () => {} };

function start(seed = 1): { readonly scheduler: Scheduler; readonly hash: () => string } {
  const trace = createTrace(false);
  return { scheduler: createScheduler(createRandom(seed), trace, silent), hash: () => trace.hash() };
}
const living = (scheduler: Scheduler, name = 'p') => {
  const process = scheduler.addProcess(name, { faulty: true });
  scheduler.revive(process);
  return process;
};
const runOut = async (scheduler: Scheduler): Promise<void> => {
  while (await scheduler.step()) continue;
};

describe('the scheduler', () => {
  it('(X1) lets time pass between steps only, in the order of their moments', async () => {
    const { scheduler } = start();
    const clock = scheduler.clockOf(living(scheduler));
    const woke: number[] = [];
    for (const ms of [30, 10, 20]) void clock.sleep(ms).then(() => woke.push(ms));
    expect(scheduler.now).toBe(0);
    await runOut(scheduler);
    expect([woke, scheduler.now]).toEqual([[10, 20, 30], 30]);
  });

  it('(X2) answers a dead process nothing, and not its next life either', async () => {
    const { scheduler } = start();
    const process = living(scheduler);
    const { node } = process;
    const answers: string[] = [];
    void scheduler.gate
      .pass(node, { ...write, kind: 'read' }, () => 'first life')
      .then((answer) => answers.push(answer));
    scheduler.crash(process);
    scheduler.revive(process);
    void scheduler.gate.pass(node, write, () => 'from beyond').then((answer) => answers.push(answer));
    void scheduler.gate.pass(process.node, write, () => 'second life').then((answer) => answers.push(answer));
    await runOut(scheduler);
    expect(answers).toEqual(['second life']);
  });

  it('(X4) lets no write of an earlier life land in a later one where the stores are inside the process', async () => {
    for (const [inside, lands] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const scheduler = createScheduler(createRandom(1), createTrace(false), silent, inside);
      scheduler.faults = { ...noFaults, ghost: 1 };
      const process = living(scheduler);
      let landed = 0;
      void scheduler.gate.pass(process.node, write, () => (landed += 1)).catch(() => undefined);
      await scheduler.step();
      scheduler.crash(process);
      scheduler.revive(process);
      await runOut(scheduler);
      expect(landed).toBe(lands);
    }
  });

  it('says UNAVAILABLE when nothing happened, and something else when nobody knows', async () => {
    for (const [faults, code, applied] of [
      [{ ...noFaults, failBefore: 1 }, 'UNAVAILABLE', 0],
      [{ ...noFaults, failAfter: 1 }, 'UNKNOWN_OUTCOME', 1],
      [{ ...noFaults, ghost: 1 }, 'UNKNOWN_OUTCOME', 1],
    ] as const) {
      const { scheduler } = start();
      scheduler.faults = faults;
      const process = living(scheduler);
      let times = 0;
      const failure = scheduler.gate.pass(process.node, write, () => (times += 1)).catch((reason: unknown) => reason);
      await runOut(scheduler);
      const reason = await failure;
      expect(reason instanceof Fault ? reason.code : reason).toBe(code);
      expect(times).toBe(applied);
    }
  });

  it('applies a publish twice when the producer does', async () => {
    const { scheduler } = start();
    scheduler.faults = { ...noFaults, publishTwice: 1 };
    let times = 0;
    void scheduler.gate.pass(living(scheduler).node, { ...write, name: 'inputs.publish' }, () => (times += 1));
    await runOut(scheduler);
    expect(times).toBe(2);
  });

  it('(X3) repeats under one seed and differs under another', async () => {
    const run = async (seed: number): Promise<string> => {
      const { scheduler, hash } = start(seed);
      const process = living(scheduler);
      for (let index = 0; index < 20; index += 1)
        void scheduler.gate.pass(process.node, { ...write, about: `${index}` }, () => index);
      await runOut(scheduler);
      return hash();
    };
    expect(await run(7)).toBe(await run(7));
    expect(await run(7)).not.toBe(await run(8));
  });
});
