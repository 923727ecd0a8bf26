// What is decided and when a refusal is final: the heart and step 3, broken.
import type { Model, ModelRequest } from '@dormouse/ports';
import { type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';
import { type CompletionResult, inputIds, type Thread, type ThreadInput } from '@dormouse/thread';
import type { Mutant, MutantContext } from '../mutant.ts';
import { twoOwners } from './two-owners.ts';

const decide: ProcessorProtocol['decide'] = (...about) => soundProtocol.decide(...about);

const isClientInput = ({ kind }: ThreadInput): boolean =>
  kind === 'UserMessage' || kind.endsWith('Request') || kind === 'ChoiceAnswer';

/** A refusal that the sound heart records is refused without a commit. (V3 broken) */
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

/** Runs every completion to its end, even an aborted one, and publishes the answer. */
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

export const decisionMutants: Readonly<Record<string, Mutant>> = {
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
      payForeign: async () => {},
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
      payForeign: async () => {},
    }),
  },
  duplicatesNotMerged: {
    breaks: 'two deliveries of one input in one slice are not merged (V8)',
    protocol: () => ({ mergeInputs: (items) => items }),
  },
  batchLosesOne: {
    breaks: 'one duplicate in a slice is taken for all of it (V8)',
    protocol: () => ({
      commitSlice: async (deps, lane, before, slice, at) => {
        const finished = await soundProtocol.commitSlice(deps, lane, before, slice, at);
        return finished.length === 0 ? finished : slice.items;
      },
    }),
  },
};
