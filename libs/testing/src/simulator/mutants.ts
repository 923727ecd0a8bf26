// The broken variants of guarantees §2 and of the table in the protocol's verification, as far as what they break exists.
// Each must be caught by the checkers within a fixed range of seeds, or is harmless for the reason it names.
import type { AppendOutcome, InputConsumer, InputDelivery, Model, ModelRequest, ThreadDelivery } from '@dormouse/ports';
import { type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';
import {
  type CompletionResult,
  inputIds,
  isOwed,
  type Thread,
  type ThreadEffect,
  type ThreadInput,
} from '@dormouse/thread';
import type { Mutant, MutantContext } from './mutant.ts';

const decide: ProcessorProtocol['decide'] = (...about) => soundProtocol.decide(...about);

/** What every input consumer of a process is given, changed on its way. */
const delivering = (change: (delivery: ThreadDelivery) => ThreadDelivery | null) => (context: MutantContext) => {
  const { ports } = context;
  const inputs: typeof ports.inputs = {
    ...ports.inputs,
    consume: (consumer: InputConsumer) =>
      ports.inputs.consume({
        assigned: (assignment) => consumer.assigned(assignment),
        revoked: (assignment) => consumer.revoked(assignment),
        busy: () => consumer.busy(),
        deliver: (assignment, delivery) => {
          const changed = change(delivery);
          if (changed !== null) consumer.deliver(assignment, changed);
        },
      }),
  };
  return { ...ports, inputs };
};

/** The same delivery, released at another time; once. */
function releasing(delivery: ThreadDelivery, when: (release: () => void) => Partial<InputDelivery>): ThreadDelivery {
  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    delivery.release();
  };
  return Object.assign({ ...delivery }, { release }, when(release));
}

const isClientInput = ({ kind }: ThreadInput): boolean =>
  kind === 'UserMessage' || kind.endsWith('Request') || kind === 'ChoiceAnswer';

/** What the sound heart records as a refusal is refused without a commit. (V3 broken) */
const uncommitted =
  (which: (thread: Thread, input: ThreadInput) => boolean): ProcessorProtocol['decide'] =>
  (thread, input, moment) => {
    const decision = decide(thread, input, moment);
    const refuses =
      decision.committed && decision.events.every(({ type }) => type === 'RequestRefused' || type === 'MessageRefused');
    return refuses && isClientInput(input) && which(thread, input)
      ? { committed: false, refusal: 'NOT_PENDING' }
      : decision;
  };

/** Appends without one of the two unique keys. */
const appendingWithout =
  (key: 'version' | 'input'): NonNullable<Mutant['world']> =>
  ({ durable: { log } }) => {
    const sound = log.append.bind(log);
    log.append = (append): AppendOutcome => {
      const { commit, owes } = append;
      const thread = log.threads.get(`${commit.tenant}:${commit.thread}`);
      if (thread === undefined) return sound(append);
      const head = thread.commits.at(-1);
      const taken = commit.version !== (head === undefined ? 0 : head.version + head.count);
      const known = commit.inputs.some((input) => thread.byInput.has(input));
      if (key === 'version' ? known || !taken : taken || !known) return sound(append);
      thread.commits.push(commit);
      for (const input of commit.inputs) thread.byInput.set(input, commit);
      if (owes) log.owed.get(`${commit.tenant}:${commit.thread}`)?.versions.add(commit.version);
      log.onAppended(commit);
      return 'appended';
    };
  };

const withLedger =
  (change: (context: MutantContext) => Partial<MutantContext['ports']['ledger']>) => (context: MutantContext) => ({
    ...context.ports,
    ledger: { ...context.ports.ledger, ...change(context) },
  });

const baseId = (id: string): string => id.replace(/-\d+$/, '');

const renamed = (effect: ThreadEffect, suffix: string): ThreadEffect =>
  effect.do === 'InvokeTool'
    ? { ...effect, id: `${effect.id}${suffix}`, toolCallId: `${effect.toolCallId}${suffix}` }
    : effect;

/** Runs every completion to its end, whoever has aborted it, and publishes the answer. */
function answeringOverTheBus(model: Model, { ports }: MutantContext): Model {
  async function runToTheEnd(request: ModelRequest): Promise<void> {
    const { completionId, tenant, thread } = request;
    let text = '';
    for await (const part of model.complete({ ...request, signal: new AbortController().signal }))
      if (part.part === 'text') text += part.text;
    const answer: CompletionResult = {
      kind: 'CompletionResult',
      id: inputIds.completion(completionId),
      completionId,
      text,
      reasoning: null,
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0 },
    };
    await ports.inputs.publish({ tenant, thread }, answer);
  }
  return {
    complete: (request) => {
      void runToTheEnd(request).catch(() => undefined);
      return model.complete(request);
    },
  };
}

/** Two owners that both go on for seconds: the older one decides on what it remembers. */
const twoOwners: NonNullable<Mutant['faults']> = {
  cutOff: 0.7,
  crash: 0,
  crashAfterAppend: 0,
  pause: 0,
  rebalance: 0,
  outage: 0,
  restart: 0,
};

const stores: Readonly<Record<string, Mutant>> = {
  noVersionCheck: { breaks: 'no unique (thread, version)', world: appendingWithout('version') },
  noInputUnique: { breaks: 'no unique (thread, input)', world: appendingWithout('input') },
  acknowledgedBeforeDurable: {
    breaks: 'gateways answer before the input is durable',
    ports: ({ ports, node }) => {
      if (!/^(?:ingress|callback)/.test(node)) return ports;
      const publish: typeof ports.inputs.publish = async (...about) =>
        void ports.inputs.publish(...about).catch(() => undefined);
      return { ...ports, inputs: { ...ports.inputs, publish } };
    },
  },
  dedupBeforeDurable: {
    breaks: 'the dedup learns of a callback before it is durable: the dedup is the only dedup',
    ports: ({ ports, node }) => {
      if (!node.startsWith('callback')) return ports;
      const publish: typeof ports.inputs.publish = async (key, input, trace) => {
        await ports.dedup.remember(key.tenant, `${key.thread}:${input.id}`).catch(() => undefined);
        await ports.inputs.publish(key, input, trace);
      };
      return { ...ports, inputs: { ...ports.inputs, publish } };
    },
  },
  recoveryIgnored: {
    breaks: 'standalone: owed rows are forgotten at start (H10, V10)',
    topology: 'standalone',
    ports: delivering((delivery) => {
      if (delivery.what !== 'recovery') return delivery;
      delivery.release();
      return null;
    }),
  },
};

const offsets: Readonly<Record<string, Mutant>> = {
  releaseBeforePayment: {
    breaks: 'the offset is released when the commit is stored, before the payment',
    ports: delivering((delivery) =>
      releasing(delivery, (release) => ({
        decided: (version) => {
          delivery.decided(version);
          release();
        },
      })),
    ),
  },
  releaseBeforeCompletion: {
    breaks: 'the offset is released while the completion still runs',
    protocol: () => ({ holdForCompletion: () => {} }),
  },
  watermarkSkipsGaps: {
    breaks: 'releasing one offset releases all before it',
    ports: (context) => {
      const delivered = new Map<string, ThreadDelivery[]>();
      return delivering((delivery) => {
        const before = delivered.get(context.node) ?? [];
        delivered.set(context.node, before);
        before.push(delivery);
        const upTo = before.length;
        return releasing(delivery, () => ({
          release: () => {
            for (const earlier of before.splice(0, upTo)) earlier.release();
          },
        }));
      })(context);
    },
  },
  rebalanceUnheard: {
    harmlessBecause:
      "what a lane remembers to have paid stays true, its cache is a guess that the append checks, and the watermark is the bus's own",
    breaks: 'the processor is not told of rebalances: lanes, caches and runs live on (V6)',
    protocol: () => ({ assignmentId: ({ partition }) => `${partition}` }),
    ports: ({ ports }) => {
      const known = new Set<number>();
      const consume: typeof ports.inputs.consume = (consumer) =>
        ports.inputs.consume({
          assigned: (assignment) => {
            if (!known.has(assignment.partition)) consumer.assigned(assignment);
            known.add(assignment.partition);
          },
          revoked: () => Promise.resolve(),
          busy: () => consumer.busy(),
          deliver: (assignment, delivery) => consumer.deliver(assignment, delivery),
        });
      return { ...ports, inputs: { ...ports.inputs, consume } };
    },
  },
  generationNotFenced: {
    breaks: 'offset commits of old generations are accepted',
    harmlessBecause: 'a zombie commits only what it has really paid, and a committed offset never moves back',
    world: ({ durable: { broker } }) => {
      const sound = broker.commit.bind(broker);
      broker.commit = (topic, member, _generation, partition, offset) =>
        sound(topic, member, broker.groups[topic].generation, partition, offset);
    },
  },
};

const decisions: Readonly<Record<string, Mutant>> = {
  refusalUnconfirmed: {
    breaks: 'a refusal from the cache is final',
    protocol: () => ({ confirmRefusal: async () => ({ refusal: 'final' }) }),
  },
  refusalNotLookedUp: {
    breaks: 'a refusal reads the head and does not look the input up',
    protocol: () => ({
      confirmRefusal: async (log, key, decidedOn) => ({
        refusal: (await log.read(key, decidedOn, 1)).length > 0 ? 'stale' : 'final',
      }),
    }),
  },
  refusalHeadNotRead: {
    breaks: 'a refusal looks the input up and does not read the head (H4)',
    faults: { ...twoOwners, slowReadMs: 0, failBefore: 0.15 },
    seedsMax: 500,
    protocol: () => ({
      confirmRefusal: async (log, key, _decidedOn, inputId) => {
        const [commit] = await log.findByInputs(key, [inputId]);
        return commit === null || commit === undefined ? { refusal: 'final' } : { refusal: 'decided_before', commit };
      },
    }),
  },
  interruptUncommitted: {
    breaks: '"nothing to stop" is refused without a commit (H3)',
    protocol: () => ({
      decide: uncommitted((thread, { kind }) => thread.status === 'open' && kind === 'InterruptRequest'),
    }),
  },
  rejectUncommitted: {
    breaks: 'policy `reject` refuses without a commit (H3)',
    protocol: () => ({ decide: uncommitted((thread, { kind }) => thread.status === 'open' && kind === 'UserMessage') }),
  },
  closedUncommitted: {
    breaks: 'what is sent to a closed thread is refused without a commit (H3)',
    protocol: () => ({ decide: uncommitted((thread) => thread.status === 'closed') }),
  },
  closeLeavesPending: {
    breaks: 'closing does not settle what is pending (H6)',
    protocol: () => ({
      decide: (thread, input, moment) => {
        const decision = decide(thread, input, moment);
        if (!decision.committed || input.kind !== 'CloseRequest' || thread.status !== 'open') return decision;
        const events = decision.events.filter(({ type }) => type === 'ThreadClosed');
        return {
          ...decision,
          events,
          thread: events.reduce((state, event) => soundProtocol.evolve(state, event, moment.now), thread),
        };
      },
    }),
  },
  lateCompletionAccepted: {
    breaks: 'answers come over the bus, not through their lane, and the heart takes one of a superseded completion',
    protocol: () => ({
      decide: (thread, input, moment) => {
        const late =
          input.kind === 'CompletionResult' &&
          thread.status === 'open' &&
          thread.completion?.completionId !== input.completionId;
        return decide(
          late ? { ...thread, completion: { completionId: input.completionId, since: moment.now } } : thread,
          input,
          moment,
        );
      },
    }),
    model: answeringOverTheBus,
  },
  lateCompletionOffered: {
    breaks: 'answers come over the bus too, also those of superseded completions',
    harmlessBecause: 'the heart refuses a superseded answer, and an answer has one input id however it comes',
    model: answeringOverTheBus,
  },
  randomAnswerIds: {
    breaks: 'the answers of completions have random ids, and foreign commits are not paid (H2)',
    protocol: ({ random }) => ({
      answerId: (completionId) => `m:${completionId}~${random.below(1e9)}`,
      learnedDebts: () => [],
    }),
  },
  randomAnswerIdsAlone: {
    breaks: 'the answers of completions have random ids',
    harmlessBecause: 'foreign commits are paid on reload (V1), so the loser of the race has nothing left to pay',
    protocol: ({ random }) => ({ answerId: (completionId) => `m:${completionId}~${random.below(1e9)}` }),
  },
  failureHasOwnId: {
    breaks: 'a failed completion answers under another id than a good one, and foreign commits are not paid (H2)',
    protocol: () => ({
      answerId: (completionId, kind) => (kind === 'CompletionFailure' ? `f:${completionId}` : `m:${completionId}`),
      learnedDebts: () => [],
    }),
  },
  duplicatesNotMerged: {
    breaks: 'two deliveries of one input in one slice are not merged (V8)',
    protocol: () => ({ mergeInputs: (items) => items }),
  },
  batchLosesOne: {
    breaks: 'one duplicate in a slice is taken for all of it (V8)',
    protocol: () => ({ finishedByDuplicate: (_found, items) => items }),
  },
};

const payments: Readonly<Record<string, Mutant>> = {
  conflictSwallowed: {
    breaks: 'a conflict is taken for "done"',
    protocol: () => ({ finishedByConflict: (items) => items }),
  },
  faultSwallowed: {
    breaks: 'a slice that failed is skipped (V6)',
    protocol: () => ({ finishedByFault: (items) => items.slice(0, 1) }),
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
      inOrder: async ({ append, pay, release }) => {
        await pay();
        const outcome = await append();
        if (outcome === 'appended') release();
        return outcome;
      },
    }),
  },
  foreignCommitsNotPaid: {
    breaks: 'commits met on a reload that somebody else wrote are not paid (H1)',
    protocol: () => ({ learnedDebts: () => [] }),
  },
  redeliveryPaysNothing: { breaks: 'a redelivered input pays nothing', protocol: () => ({ repaidDebts: () => [] }) },
  redeliveryPaysOwnOnly: {
    breaks: 'a redelivered input pays its own commit only',
    protocol: () => ({ repaidDebts: (debts, { from }) => debts.filter(({ version }) => version === from) }),
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
      repaidDebts: (debts) =>
        debts.map((debt) => ({
          ...debt,
          effects: debt.effects.map((effect) => renamed(effect, `-${random.below(1e6)}`)),
        })),
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
          return decide(thread, input, moment);
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
        const { debts } = await soundProtocol.readThread(sources, key, debtsFrom);
        if (debts.length > 0) await clock.sleep(150);
        const { state } = await soundProtocol.readThread(sources, key, Number.POSITIVE_INFINITY);
        return { state, debts };
      },
    }),
  },
  detachedOwesNothing: {
    breaks: 'a detached call no longer owes its dispatch (H7)',
    protocol: () => ({
      isOwed: (thread, effect) =>
        isOwed(thread, effect) && !(effect.do === 'InvokeTool' && thread.calls[effect.toolCallId]?.detached === true),
    }),
  },
  supersededReleasedFirst: {
    breaks: 'what a superseded completion held is released before the superseding payment (V1)',
    protocol: () => ({
      passOn: async (_hold, ended, pay) => {
        if (ended?.isOpen === true) ended.drop();
        await pay();
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
    faults: { crash: 0.008 },
    seedsMax: 500,
    protocol: ({ clock }) => ({
      fireTimer: async (publish, drop) => {
        await drop();
        await clock.sleep(400);
        await publish();
      },
    }),
  },
};

const dispatching: Readonly<Record<string, Mutant>> = {
  ledgerForgets: {
    breaks: 'the dispatcher keeps no outcome (H8)',
    ports: withLedger(({ ports }) => ({
      read: async (key, subject) => {
        const entry = await ports.ledger.read(key, subject);
        return entry === null ? null : { ...entry, outcome: null };
      },
    })),
  },
  claimAlwaysWon: {
    breaks: 'at-most-once calls and notices are sent without a claim',
    ports: withLedger(() => ({ claim: async () => true })),
  },
  claimAfterPost: {
    breaks: 'an at-most-once call is claimed after its POST',
    ports: withLedger(({ ports, clock }) => ({
      claim: async (key, subject, nonce, at) => {
        const entry = await ports.ledger.read(key, subject);
        if (entry !== null && entry.nonce !== null) return entry.nonce === nonce;
        void clock.sleep(800).then(() => ports.ledger.claim(key, subject, nonce, at).catch(() => false));
        return true;
      },
    })),
  },
  atMostOnceRetried: {
    breaks: 'a POST without an answer is sent again, whatever its class',
    transport: (transport) => ({
      ...transport,
      post: async (request) => {
        const outcome = await transport.post(request);
        return outcome.sent || !outcome.reached ? outcome : transport.post(request);
      },
    }),
  },
  withdrawalNotWritten: {
    breaks: 'a withdrawn call is not written down as cancelled (V7)',
    harmlessBecause:
      'a withdrawal narrows the window for a late first POST and cannot close it; no promise rests on it',
    ports: withLedger(({ ports }) => ({
      settle: async (key, subject, outcome, detail) =>
        outcome === 'cancelled' ? outcome : ports.ledger.settle(key, subject, outcome, detail),
    })),
  },
};

export const mutants: Readonly<Record<string, Mutant>> = {
  ...stores,
  ...offsets,
  ...decisions,
  ...payments,
  ...dispatching,
};
