// Steps 3 and 4, broken: what is appended, paid, paid again, and by what state it is judged.
import { Hold, type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';
import { callOf, isOwed, type Thread, type ThreadEffect } from '@dormouse/thread';
import type { Mutant } from '../mutant.ts';
import { releaseHeld } from './changed-deliveries.ts';
import { twoOwners } from './two-owners.ts';

const baseId = (id: string): string => id.replace(/-\d+$/, '');

const renamed = (effect: ThreadEffect, suffix: string): ThreadEffect =>
  effect.do === 'InvokeTool'
    ? { ...effect, id: `${effect.id}${suffix}`, toolCallId: `${effect.toolCallId}${suffix}` }
    : effect;

type Debts = Parameters<ProcessorProtocol['payAgain']>[3]['debts'];

/** What a redelivery pays of the debts that it has read from its own commit on. */
const payingAgain = (change: (debts: Debts, from: number) => Debts): Pick<ProcessorProtocol, 'payAgain'> => ({
  payAgain: (deps, lane, repayment, { state, debts }, hold) =>
    soundProtocol.payAgain(deps, lane, repayment, { state, debts: change(debts, repayment.from) }, hold),
});

export const paymentMutants: Readonly<Record<string, Mutant>> = {
  conflictSwallowed: {
    breaks: 'a conflict is taken for "done"',
    protocol: () => ({
      commitSlice: async (deps, lane, before, slice, at) => {
        const finished = await soundProtocol.commitSlice(deps, lane, before, slice, at);
        return finished.length === 0 ? slice.items : finished;
      },
    }),
  },
  faultSwallowed: {
    breaks: 'a slice that failed is skipped (V6)',
    protocol: () => ({
      commitSlice: async (deps, lane, before, slice, at) => {
        try {
          return await soundProtocol.commitSlice(deps, lane, before, slice, at);
        } catch {
          const [skipped] = slice.items;
          for (const delivery of skipped?.deliveries ?? []) delivery.decided(null);
          if (skipped?.hold.isOpen === true) skipped.hold.drop();
          return slice.items.slice(0, 1);
        }
      },
    }),
  },
  unknownIsSuccess: {
    breaks: 'an unknown outcome is taken for success',
    protocol: () => ({ wasAppended: () => true }),
  },
  unknownIsFailure: {
    breaks: 'an unknown outcome is taken for failure, without reading back',
    harmlessBecause: "the slice comes again, finds its own commit like anybody else's and pays it (V1); only slower",
    protocol: () => ({ wasAppended: () => false }),
  },
  paidBeforeAppend: {
    breaks: 'effects are paid before the commit is stored',
    protocol: () => ({
      commitSlice: async (deps, lane, before, slice, at) => {
        const effects = slice.effects.filter((effect) => effect.do !== 'RequestCompletion');
        const debts = [{ version: before.thread.position, at, trace: null, effects }];
        const hold = new Hold();
        await soundProtocol.pay(deps.payment, lane, {
          debts,
          state: { ...before, ...slice, messages: before.messages },
          hold,
        });
        hold.drop();
        return soundProtocol.commitSlice(deps, lane, before, slice, at);
      },
    }),
  },
  foreignCommitsNotPaid: {
    breaks: 'commits met on a reload that somebody else wrote are not paid (H1)',
    protocol: () => ({ payForeign: async () => {} }),
  },
  redeliveryPaysNothing: { breaks: 'a redelivered input pays nothing', protocol: () => payingAgain(() => []) },
  redeliveryPaysOwnOnly: {
    breaks: 'a redelivered input pays its own commit only',
    protocol: () => payingAgain((debts, from) => debts.filter(({ version }) => version === from)),
  },
  redeliveryPaysTailOnly: {
    breaks: 'a redelivered input pays its own commit and those after the snapshot (V5)',
    protocol: () => ({
      readThread: async (sources, key, debtsFrom) => {
        const read = await soundProtocol.readThread(sources, key, debtsFrom);
        const { version } = read.state.snapshot;
        return { ...read, debts: read.debts.filter((debt) => debt.version === debtsFrom || debt.version >= version) };
      },
    }),
  },
  repaymentUnfiltered: { breaks: 'everything is paid again, owed or not', protocol: () => ({ isOwed: () => true }) },
  repaidUnderNewIds: {
    breaks: 'calls that are paid again get new ids',
    protocol: ({ random }) => ({
      isOwed: (thread, effect) =>
        isOwed(thread, effect.do === 'InvokeTool' ? { ...effect, toolCallId: baseId(effect.toolCallId) } : effect),
      ...payingAgain((debts) =>
        debts.map((debt) => ({
          ...debt,
          effects: debt.effects.map((effect) => renamed(effect, `-${random.below(1e6)}`)),
        })),
      ),
    }),
  },
  judgedByCachedState: {
    breaks: '"still owed" is judged by the cached state (H5)',
    protocol: () => {
      const cached = new Map<string, Thread>();
      const judge = new WeakMap<Thread, Thread>();
      return {
        decide: (thread, input, moment) => {
          cached.set(`${thread.tenant}:${thread.id}`, thread);
          return soundProtocol.decide(thread, input, moment);
        },
        readThread: async (sources, key, debtsFrom) => {
          const read = await soundProtocol.readThread(sources, key, debtsFrom);
          const older = cached.get(`${key.tenant}:${key.thread}`);
          if (older !== undefined) judge.set(read.state.thread, older);
          return read;
        },
        isOwed: (thread, effect) => isOwed(judge.get(thread) ?? thread, effect),
      };
    },
  },
  judgedByAnotherHead: {
    breaks: 'the list of commits and the state that judges it are read at two heads (H5)',
    faults: { ...twoOwners, crashAfterAppend: 0.05 },
    seedsMax: 500,
    protocol: ({ clock }) => ({
      readThread: async (sources, key, debtsFrom) => {
        const { debts, decided } = await soundProtocol.readThread(sources, key, debtsFrom);
        if (debts.length > 0) await clock.sleep(150);
        const { state } = await soundProtocol.readThread(sources, key, Number.POSITIVE_INFINITY);
        return { state, debts, decided };
      },
    }),
  },
  detachedOwesNothing: {
    breaks: 'a detached call no longer owes its dispatch (H7)',
    protocol: () => ({
      isOwed: (thread, effect) =>
        isOwed(thread, effect) && !(effect.do === 'InvokeTool' && callOf(thread, effect.toolCallId)?.detached === true),
    }),
  },
  supersededReleasedFirst: {
    breaks: 'what a superseded completion held is released before the superseding payment (V1)',
    protocol: () => ({
      pay: async (deps, debtor, bill) => {
        const { run } = debtor;
        if (run?.completionId !== bill.state.thread.completion?.completionId) releaseHeld(run);
        await soundProtocol.pay(deps, debtor, bill);
      },
    }),
  },
  everythingPaidAgain: {
    breaks: 'no memory of what was paid: every redelivery pays from its own commit on',
    harmlessBecause: 'paying again is what every receiver dedups; it costs work only',
    protocol: () => ({ repayFrom: ({ from }) => from }),
  },
  timerDroppedFirst: {
    breaks: 'a due timer is dropped before its firing is published',
    topology: 'standalone', // elsewhere another processor fires it too
    faults: { crash: 0.005 },
    seedsMax: 500,
    ports: ({ ports, clock }) => ({
      ...ports,
      inputs: {
        ...ports.inputs,
        publish: async (key, input, trace) => {
          if (input.kind === 'TimerFiring') {
            await ports.timers.drop([{ ...key, timerId: input.timerId, due: input.scheduledFor }]);
            await clock.sleep(2_000);
          }
          await ports.inputs.publish(key, input, trace);
        },
      },
    }),
  },
};
