// The contract of `LiveFeed`, for every adapter. Hints may be lost; these are the ones a healthy feed does not lose.
//
//   H1. A subscriber gets the hints of its thread, in order, until it unsubscribes, and none of another thread.
//   H2. `soFar` gives a late client the deltas of the running completion: of its last attempt only, and none once a
//       commit has decided the completion.
//   H3. `retrying` gives a late client the failure of the last attempt, until a later attempt sends a delta.
import { describe, expect, it } from 'vitest';
import { tenantId, type Delta, type Hint, type LiveFeed, type Retrying } from '../index.ts';
import { commitOf, freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';
import { until } from './until.ts';

const delta = (text: string, offset: number, changes: Partial<Delta> = {}): Delta => ({
  completionId: 'cmp_1',
  attempt: 1,
  offset,
  kind: 'text',
  index: 0,
  text,
  ...changes,
});

const failing = (attempt: number): Retrying => ({
  ...{ completionId: 'cmp_1', attempt, code: 'MODEL_FAILED', detail: 'it says "no"', host: 'models.example:8443' },
  ...{ nextAt: 3_000, failedAt: 2_000, since: 1_000 },
});

const said = (deltas: readonly Delta[], kind: Delta['kind'] = 'text'): string =>
  deltas
    .filter((each) => each.kind === kind)
    .map((each) => each.text)
    .join('');

export function liveFeedContract(name: string, make: () => Promise<UnderTest<LiveFeed>>): void {
  describe(`LiveFeed contract: ${name}`, () => {
    const opened = openedOnce(make);
    const eventually = async (check: () => Promise<boolean>): Promise<void> => {
      const state = { so: false };
      await until(() => {
        void check().then((so) => (state.so = so));
        return state.so;
      });
    };

    it('H1: subscribers hear of their thread, in order', async () => {
      const feed = await opened.get();
      const key = freshKey();
      const heard: Hint[][] = [[], []];
      const others: Hint[] = [];
      await feed.subscribe(key, (hint) => heard[0]?.push(hint));
      await feed.subscribe(key, (hint) => heard[1]?.push(hint));
      await feed.subscribe(freshKey(), (hint) => others.push(hint));
      await feed.subscribe({ ...key, tenant: tenantId('zenith') }, (hint) => others.push(hint));
      const hints: Hint[] = [
        { hint: 'delta', delta: delta('Hel', 0) },
        { hint: 'delta', delta: delta('lo', 3) },
        { hint: 'committed', commit: commitOf(key, 0) },
      ];
      for (const hint of hints) feed.publish(key, hint);
      await until(() => heard.every((each) => each.length === 3));
      expect(heard).toEqual([hints, hints]);
      expect(others).toEqual([]);
    });

    it('H1: who has ended his subscription hears nothing more; the others do', async () => {
      const feed = await opened.get();
      const key = freshKey();
      const [gone, here]: [Hint[], Hint[]] = [[], []];
      const end = await feed.subscribe(key, (hint) => gone.push(hint));
      await feed.subscribe(key, (hint) => here.push(hint));
      end();
      end();
      feed.publish(key, { hint: 'committed', commit: commitOf(key, 0) });
      await until(() => here.length === 1);
      expect(gone).toEqual([]);
    });

    it('H1: publishing where nobody listens is no error', async () => {
      const feed = await opened.get();
      const key = freshKey();
      feed.publish(key, { hint: 'committed', commit: commitOf(key, 0) });
      expect(await feed.soFar(key)).toEqual([]);
    });

    it('H2: a late client gets what was said so far, of the last attempt, without gaps', async () => {
      const feed = await opened.get();
      const key = freshKey();
      feed.publish(key, { hint: 'delta', delta: delta('discarded', 0) });
      feed.publish(key, { hint: 'delta', delta: delta('Good ', 0, { attempt: 2 }) });
      feed.publish(key, { hint: 'delta', delta: delta('hm', 0, { attempt: 2, kind: 'reasoning' }) });
      feed.publish(key, { hint: 'delta', delta: delta('morning', 5, { attempt: 2 }) });
      await eventually(async () => said(await feed.soFar(key)) === 'Good morning');
      const deltas = await feed.soFar(key);
      expect(said(deltas, 'reasoning')).toBe('hm');
      expect(deltas.every((each) => each.attempt === 2)).toBe(true);
      let end = 0;
      for (const each of deltas.filter(({ kind }) => kind === 'text')) {
        expect(each.offset).toBe(end);
        end += each.text.length;
      }
      expect(await feed.soFar(freshKey())).toEqual([]);
    });

    it('H2: another completion replaces what the one before has said', async () => {
      const feed = await opened.get();
      const key = freshKey();
      feed.publish(key, { hint: 'delta', delta: delta('old', 0) });
      feed.publish(key, { hint: 'delta', delta: delta('new', 0, { completionId: 'cmp_2' }) });
      await eventually(async () => said(await feed.soFar(key)) === 'new');
    });

    it('H2: once the completion is decided there is nothing so far', async () => {
      const feed = await opened.get();
      const key = freshKey();
      feed.publish(key, { hint: 'delta', delta: delta('answer', 0) });
      await eventually(async () => said(await feed.soFar(key)) === 'answer');
      const body = JSON.stringify({ events: [{ type: 'CompletionRecorded', completionId: 'cmp_1' }], effects: [] });
      feed.publish(key, { hint: 'committed', commit: commitOf(key, 0, { inputs: ['m:cmp_1'], body }) });
      await eventually(async () => (await feed.soFar(key)).length === 0);
    });

    it('H2: a commit about something else does not end it', async () => {
      const feed = await opened.get();
      const key = freshKey();
      feed.publish(key, { hint: 'delta', delta: delta('thinking', 0) });
      await eventually(async () => said(await feed.soFar(key)) === 'thinking');
      feed.publish(key, { hint: 'committed', commit: commitOf(key, 0, { inputs: ['r:call_1'] }) });
      feed.publish(key, { hint: 'delta', delta: delta(' on', 8) }); // arrives after the commit
      await eventually(async () => said(await feed.soFar(key)).endsWith(' on'));
      expect(said(await feed.soFar(key))).toBe('thinking on');
    });

    it('H1 H3: a failed attempt is heard of, and known to a late client until a later attempt speaks', async () => {
      const feed = await opened.get();
      const key = freshKey();
      const heard: Hint[] = [];
      await feed.subscribe(key, (hint) => heard.push(hint));
      expect(await feed.retrying(key)).toBeNull();
      feed.publish(key, { hint: 'delta', delta: delta('half', 0) });
      feed.publish(key, { hint: 'retrying', retrying: failing(1) });
      feed.publish(key, { hint: 'retrying', retrying: failing(2) });
      await until(() => heard.length === 3);
      expect(heard.slice(1)).toEqual([1, 2].map((attempt) => ({ hint: 'retrying', retrying: failing(attempt) })));
      expect(await feed.retrying(key)).toEqual(failing(2));
      expect(await feed.retrying(freshKey())).toBeNull();
      feed.publish(key, { hint: 'delta', delta: delta('whole', 0, { attempt: 3 }) });
      await eventually(async () => (await feed.retrying(key)) === null);
    });
  });
}
