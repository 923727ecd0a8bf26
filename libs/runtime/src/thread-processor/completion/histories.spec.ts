import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import { Fault, type ThreadLog, tenantId } from '@dormouse/ports';
import { extendTranscript, inherit, emptyTail, type ModelMessage, type RecordedEvent, text } from '@dormouse/thread';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sealCommit } from '../../log/envelope.ts';
import { Histories } from './histories.ts';
import type { Origin } from './inherited-transcript.ts';

const tenant = tenantId('acme');
const stranger = tenantId('zenith');
/** With what the transcript reads of it. */
const event = (fields: object): RecordedEvent => fields as RecordedEvent;

type Act = 'say' | 'ask' | 'answer' | 'call' | 'settle' | 'spawn';

/** A history that the transcript takes: a call is settled before the model is asked again. */
function eventsOf(acts: readonly Act[], opening: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const events = [...opening];
  let open: string | null = null;
  let isRound = false;
  const settle = (): void => {
    if (open === null) return;
    events.push(event({ type: 'ToolCallSettled', toolCallId: open, outcome: 'result', content: [text(`of ${open}`)] }));
    open = null;
  };
  for (const [index, act] of acts.entries()) {
    if (act === 'say')
      events.push(event({ type: 'MessageAccepted', messageId: 'm', content: [text(`said ${index}`)] }));
    if (act === 'spawn') events.push(event({ type: 'ChildSpawned', childId: 'c', reason: 'event' }));
    if (act === 'settle') settle();
    if (act === 'ask') {
      settle();
      isRound = false;
      events.push(event({ type: 'CompletionRequested', completionId: 'q', model: 'm' }));
    }
    if (act === 'answer' && !isRound) {
      isRound = true;
      events.push(event({ type: 'CompletionRecorded', completionId: 'q', message: { text: `answer ${index}` } }));
    }
    if (act === 'call' && isRound && open === null) {
      open = `call_${index}`;
      events.push(event({ type: 'ToolCallRequested', toolCallId: open, operation: 'work', arguments: {} }));
    }
  }
  return events;
}

const opened = (parent?: { threadId: string; position: number }): RecordedEvent =>
  event({ type: 'ThreadOpened', policies: { eventStyle: 'kind' }, ...(parent === undefined ? {} : { parent }) });
const forked = (threadId: string, position: number): RecordedEvent =>
  event({ type: 'ThreadForked', from: { threadId, position }, askAgain: false });

/** Threads by their ids. */
type Family = Readonly<Record<string, readonly RecordedEvent[]>>;

/** Straight from the definition. (M6) */
function expected(family: Family, { at, by }: Origin): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  let tail = emptyTail;
  for (const each of (family[at.threadId] ?? []).slice(0, at.position)) {
    if (each.type === 'ThreadOpened' && each.parent !== undefined)
      messages.push(...expected(family, { at: each.parent, by: 'child' }));
    if (each.type === 'ThreadForked') messages.push(...expected(family, { at: each.from, by: 'fork' }));
    const step = extendTranscript(tail, each);
    tail = step.tail;
    messages.push(...step.messages);
  }
  return [...messages, ...inherit(tail, by)];
}

interface Kept {
  readonly histories: Histories;
  /** How many commits were read so far, and with how many questions. */
  readonly commitsRead: () => number;
  readonly questions: () => number;
  /** The next reading fails. */
  readonly failNext: () => void;
}

/** The threads are in a log, in commits of so many events, of which one may be lost. */
async function keep(
  family: Family,
  { perCommit = 2, historyBytesMax = 10_000_000, loadPageCommits = 3, others = {} as Family, lost = -1 } = {},
): Promise<Kept> {
  const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
  const threads = Object.entries(family).map((entry) => [tenant, ...entry] as const);
  const ofOthers = Object.entries(others).map((entry) => [stranger, ...entry] as const);
  for (const [tenant, thread, events] of [...threads, ...ofOthers]) {
    let prev = '';
    for (let version = 0; version < events.length; version += perCommit) {
      const commit = sealCommit({
        ...{
          key: { tenant, thread },
          version,
          inputs: [`i${version}`],
          at: 0,
          nonce: 'n',
          trace: null,
          prev,
        },
        ...{ events: events.slice(version, version + perCommit), effects: [] },
      });
      prev = commit.hash;
      expect(await ports.log.append([{ commit, owes: false }])).toEqual(['appended']);
    }
  }
  let commits = 0;
  let questions = 0;
  let fails = false;
  const log: ThreadLog = {
    ...ports.log,
    read: async (...asked) => {
      if (fails) {
        fails = false;
        throw new Fault('STATE_UNAVAILABLE', 'away');
      }
      questions += 1;
      const found = (await ports.log.read(...asked)).filter(({ version }) => version !== lost);
      commits += found.length;
      return found;
    },
  };
  const sources = { log, blobs: ports.blobs, folds: { extendTranscript }, settings: { loadPageCommits } };
  return {
    histories: new Histories(sources, historyBytesMax),
    commitsRead: () => commits,
    questions: () => questions,
    failNext: () => {
      fails = true;
    },
  };
}

const childOf = (threadId: string, position: number): Origin => ({ at: { threadId, position }, by: 'child' });

/** A parent that says something before each child that it spawns, and where they were spawned. */
function spawning(children: number): { readonly family: Family; readonly places: readonly number[] } {
  const acts = Array.from({ length: children }, (): Act[] => ['say', 'ask', 'answer', 'spawn']).flat();
  const parent = eventsOf(acts, [opened()]);
  const places = [...parent.keys()].filter((index) => parent[index]?.type === 'ChildSpawned').map((index) => index + 1);
  return { family: { parent }, places };
}

describe('the history that a thread begins with', () => {
  const act = fc.constantFrom<Act>('say', 'ask', 'answer', 'call', 'settle', 'spawn');
  const acts = fc.array(act, { maxLength: 40 });
  const place = fc.nat(100);

  it('M6 is what was said before, by the definition: any threads, any places, in any order, within any memory', async () => {
    const cases = fc.record({
      ...{ parent: acts, child: acts, fork: acts, spawnedAt: place, forkedAt: place },
      asked: fc.array(
        fc.record({
          threadId: fc.constantFrom('parent', 'child', 'fork'),
          position: place,
          by: fc.constantFrom<Origin['by']>('child', 'fork'),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      perCommit: fc.integer({ min: 1, max: 5 }),
      historyBytesMax: fc.constantFrom(1, 2_000, 5_000, 10_000_000),
      together: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ asked, together, spawnedAt, forkedAt, ...rest }) => {
        const parent = eventsOf(rest.parent, [opened()]);
        const spawned = { threadId: 'parent', position: spawnedAt % (parent.length + 1) };
        const child = eventsOf(rest.child, [opened(spawned)]);
        const from = forked('child', forkedAt % (child.length + 1));
        const family: Family = { parent, child, fork: eventsOf(rest.fork, [opened(), from]) };
        const { histories } = await keep(family, rest);
        const check = async ({ threadId, position, by }: (typeof asked)[number]): Promise<void> => {
          const origin = { at: { threadId, position: position % ((family[threadId]?.length ?? 0) + 1) }, by };
          const prompt = await histories.upTo(tenant, origin);
          const wanted = expected(family, origin);
          expect(await prompt.all()).toEqual(wanted);
          expect(prompt.length).toBe(wanted.length);
          expect(await prompt.last(3)).toEqual(wanted.slice(-3));
          expect(histories.bytes).toBeLessThanOrEqual(rest.historyBytesMax);
        };
        if (together) await Promise.all(asked.map(check));
        else for (const each of asked) await check(each);
      }),
      { numRuns: 300 },
    );
  });

  it('N1, H2 costs a hundred children of a thread one reading of it, whatever the order in which they ask', async () => {
    const { family, places } = spawning(100);
    const commits = Math.ceil((family['parent']?.length ?? 0) / 2);
    const shuffled = places.map((_, index) => places[(index * 37) % places.length] ?? 0);
    const oneByOne = await keep(family);
    for (const position of shuffled) await oneByOne.histories.upTo(tenant, childOf('parent', position));
    expect(oneByOne.commitsRead()).toBeLessThan(1.05 * commits); // the last page may hold a commit too many
    const together = await keep(family, { loadPageCommits: 50 });
    await Promise.all(shuffled.map((position) => together.histories.upTo(tenant, childOf('parent', position))));
    expect(together.commitsRead()).toBeLessThan(1.05 * commits);
    expect(together.questions()).toBeLessThan(10);
  });

  it('N1 is read as far as it is asked for, not to the end of the log', async () => {
    const { family } = spawning(100);
    const { histories, commitsRead } = await keep(family, { loadPageCommits: 500 });
    await histories.upTo(tenant, childOf('parent', 10));
    expect(commitsRead()).toBeLessThanOrEqual(10);
  });

  it('N2 is read apart for a fork that begins where nobody looked, once', async () => {
    const { family } = spawning(10);
    const { histories, commitsRead } = await keep(family);
    await histories.upTo(tenant, childOf('parent', 41));
    const before = commitsRead();
    const fork: Origin = { at: { threadId: 'parent', position: 20 }, by: 'fork' };
    expect(await (await histories.upTo(tenant, fork)).all()).toEqual(expected(family, fork));
    const apart = commitsRead();
    expect(apart).toBeGreaterThan(before);
    await histories.upTo(tenant, fork);
    expect(commitsRead()).toBe(apart + 1); // (H3)
  });

  it('N2 is known to whoever asks for a place before it is passed, at any moment of the reading', async () => {
    const { family } = spawning(10);
    const fork: Origin = { at: { threadId: 'parent', position: 20 }, by: 'fork' };
    for (const first of [41, 5]) {
      const { histories } = await keep(family);
      if (first === 41) await histories.upTo(tenant, childOf('parent', first)); // it was passed: a separate reading
      const later = async (microtasks: number): Promise<number> => {
        for (let passed = 0; passed < microtasks; passed++) await Promise.resolve();
        return (await histories.upTo(tenant, fork)).length;
      };
      const lengths = await Promise.all(Array.from({ length: 300 }, (_, microtasks) => later(microtasks)));
      expect(new Set(lengths)).toEqual(new Set([expected(family, fork).length]));
    }
    const { histories, commitsRead } = await keep(family);
    await Promise.all([histories.upTo(tenant, childOf('parent', 41)), histories.upTo(tenant, fork)]);
    expect(commitsRead()).toBe(22); // no reading apart; (H3)
  });

  it('N2 is known where the newest thousand children were spawned; an older one has a reading of its own', async () => {
    const spawned = (count: number): Family => ({ parent: eventsOf(Array<Act>(count).fill('spawn'), [opened()]) });
    const [few, many] = [await keep(spawned(1_000)), await keep(spawned(1_200))];
    await few.histories.upTo(tenant, childOf('parent', 1_001));
    await many.histories.upTo(tenant, childOf('parent', 1_201));
    expect(many.histories.bytes).toBeLessThan(few.histories.bytes * 1.01);
    const before = many.commitsRead();
    await many.histories.upTo(tenant, childOf('parent', 1_100));
    expect(many.commitsRead()).toBe(before);
    await many.histories.upTo(tenant, childOf('parent', 3));
    expect(many.commitsRead() - before).toBeGreaterThan(0);
    expect(many.commitsRead() - before).toBeLessThanOrEqual(3);
  });

  it('is one tenant’s: a thread of the same name in another has its own', async () => {
    const said = (acts: readonly Act[]): Family => ({ parent: eventsOf(acts, [opened()]) });
    const [ours, theirs] = [said(['say', 'ask']), said(['say', 'say', 'say', 'ask'])];
    const { histories } = await keep(ours, { others: theirs });
    expect(await (await histories.upTo(tenant, childOf('parent', 3))).all()).toHaveLength(1);
    expect(await (await histories.upTo(stranger, childOf('parent', 5))).all()).toHaveLength(3);
  });

  it('one reading that fails late keeps nobody from what it has passed', async () => {
    const { family } = spawning(2);
    const { histories } = await keep(family);
    const [far, near] = await Promise.allSettled([
      histories.upTo(tenant, childOf('parent', 100)),
      histories.upTo(tenant, childOf('parent', 2)),
    ]);
    expect([far.status, near.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('N3, R54 is never shorter than it was: a log that ends before, or cannot be read, is an error, and then read on', async () => {
    const { family } = spawning(2);
    const { histories, failNext } = await keep(family);
    const origin = childOf('parent', 5);
    failNext();
    await expect(histories.upTo(tenant, origin)).rejects.toThrow('away');
    await expect(histories.upTo(tenant, childOf('parent', 100))).rejects.toThrow('event 100 of parent is missing');
    await expect(histories.upTo(tenant, childOf('nobody', 1))).rejects.toThrow(Fault);
    expect(await (await histories.upTo(tenant, origin)).all()).toEqual(expected(family, origin));
  });

  it('N3 is an error where a commit is missing in the middle', async () => {
    const { histories } = await keep(spawning(2).family, { lost: 4, loadPageCommits: 500 });
    await expect(histories.upTo(tenant, childOf('parent', 9))).rejects.toThrow('event 5 of parent is missing');
    await expect(histories.upTo(tenant, childOf('parent', 9))).rejects.toThrow('event 5 of parent is missing');
    expect((await histories.upTo(tenant, childOf('parent', 4))).length).toBeGreaterThan(0);
  });

  it('H1 is kept within the budget: of the threads, those used lately', async () => {
    const { family, places } = spawning(20);
    const threads = Object.fromEntries(['a', 'b', 'c'].map((thread) => [thread, family['parent'] ?? []]));
    const position = places.at(-1) ?? 0;
    const one = (await keep(threads)).histories;
    await one.upTo(tenant, childOf('a', position));
    const { histories, commitsRead } = await keep(threads, { historyBytesMax: 2 * one.bytes });
    const read: string[] = [];
    for (const thread of ['a', 'b', 'a', 'c', 'a', 'b']) {
      const before = commitsRead();
      await histories.upTo(tenant, childOf(thread, position));
      if (commitsRead() > before) read.push(thread);
    }
    expect(read).toEqual(['a', 'b', 'c', 'b']);
    expect(histories.bytes).toBe(2 * one.bytes);
  });

  it('H1 weighs also what no model was shown yet', async () => {
    const said = { type: 'MessageAccepted', messageId: 'm', content: [text('x'.repeat(50_000))] };
    const { histories } = await keep({ parent: [opened(), event(said)] });
    await histories.upTo(tenant, childOf('parent', 2));
    expect(histories.bytes).toBeGreaterThan(50_000);
  });

  it('H1 is not kept when it alone is above the budget, and drives nobody out', async () => {
    const [small, huge] = [spawning(2), spawning(200)];
    const threads = { small: small.family['parent'] ?? [], huge: huge.family['parent'] ?? [] };
    const whole = (await keep(threads)).histories;
    await whole.upTo(tenant, childOf('huge', huge.places.at(-1) ?? 0));
    const { histories, commitsRead } = await keep(threads, { historyBytesMax: whole.bytes - 1 });
    await histories.upTo(tenant, childOf('small', 5));
    await histories.upTo(tenant, childOf('huge', huge.places.at(-1) ?? 0));
    const before = commitsRead();
    await histories.upTo(tenant, childOf('small', 5));
    expect(commitsRead()).toBe(before);
    await histories.upTo(tenant, childOf('huge', 5));
    expect(commitsRead()).toBeGreaterThan(before);
  });
});
