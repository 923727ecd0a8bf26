/** What every store of a tool server does, whatever it keeps its rows in. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallRow, Store } from '../store/store.ts';

const sealed = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (value: Uint8Array | null | undefined): string | undefined =>
  value ? new TextDecoder().decode(value) : undefined;

type NewCall = Parameters<Store['calls']['add']>[0];
const call = (key: string, more: Partial<NewCall> = {}): NewCall => ({
  key,
  thread: 'thr',
  call: `call ${key}`,
  operation: 'echo',
  sealed: sealed(`call ${key}`),
  at: 1_000,
  work: 'w',
  delivery: null,
  ...more,
});

export function storeContract(open: () => Store | Promise<Store>): void {
  let store: Store;
  beforeEach(async () => void (store = await open()));
  afterEach(() => store.close());

  it('opens what it sealed, and keeps single values', () => {
    store.values.add('secret a', store.vault.seal('secret', { x: 1 }));
    expect(store.vault.open('secret', store.values.get('secret a'))).toEqual({ x: 1 });
    expect(store.values.get('secret b')).toBeUndefined();
  });

  it('undoes a transaction that throws, in every table, and may be used after it', () => {
    store.memory.set('thr', 'kept', sealed('1'));
    store.calls.add(call('a'));
    expect(() =>
      store.transaction(() => {
        store.memory.set('thr', 'kept', sealed('2'));
        store.memory.set('thr', 'new', sealed('3'));
        store.calls.move('a', ['running'], 'ended');
        store.transaction(() => store.views.add('thr', 'progress'));
        store.messages.add({ lane: 'l', message: 'm', sealed: sealed('m'), subscription: 's', at: 1, due: 1 });
        store.subscriptions.add({
          id: 's',
          thread: 'thr',
          call: 'c',
          tool: 't',
          sealed: sealed('s'),
          at: 1,
          expires: 9,
        });
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(store.memory.of('thr').map((entry) => [entry.name, textOf(entry.sealed)])).toEqual([['kept', '1']]);
    expect(store.calls.get('a')).toMatchObject({ state: 'running' });
    expect(textOf(store.calls.get('a')?.sealed)).toBe('call a');
    expect(store.views.delete('thr', 'progress')).toBe(false);
    expect([store.messages.count(), store.messages.countOf('s'), store.subscriptions.of('thr')]).toEqual([0, 0, []]);
    expect(store.transaction(() => store.calls.move('a', ['running'], 'ended'))).toBe(true);
  });

  it('keeps an inner transaction that threw and was caught as part of the outer one', () => {
    store.transaction(() => {
      store.views.add('thr', 'a');
      try {
        store.transaction(() => {
          store.views.add('thr', 'b');
          throw new Error('inner');
        });
      } catch {
        // the outer one decides
      }
    });
    expect([store.views.delete('thr', 'a'), store.views.delete('thr', 'b')]).toEqual([true, true]);
  });

  describe('calls', () => {
    const repeated = (more: Partial<NewCall>, since: number): string | undefined =>
      store.calls.repeated({ ...call('?'), call: 'x', ...more }, since)?.key;

    it('T24 finds the call that a POST repeats', () => {
      store.calls.add(call('plain', { call: 'x', at: 1_000 }));
      store.calls.add(call('keyed', { call: 'x', at: 1_001, delivery: 'd' }));
      store.calls.add(call('other', { call: 'x', at: 1_002, work: 'w2', delivery: 'd' }));
      expect(repeated({}, 5_000)).toBe('plain'); // it runs
      expect(repeated({ delivery: 'd' }, 5_000)).toBe('keyed');
      expect(repeated({ delivery: 'e' }, 0)).toBeUndefined();
      expect(repeated({ work: 'w3', delivery: 'd' }, 0)).toBeUndefined();
      expect(repeated({ thread: 'another', delivery: 'd' }, 0)).toBeUndefined();
      store.calls.move('plain', ['running'], 'ended');
      expect([repeated({}, 999), repeated({}, 1_000)]).toEqual(['plain', undefined]);
      store.calls.add(call('later', { call: 'x', at: 1_003 }));
      expect(repeated({}, 0)).toBe('later');
      store.calls.add(call('older release', { call: 'y', work: null }));
      expect(repeated({ call: 'y', work: 'any', delivery: 'any' }, 5_000)).toBe('older release');
      expect(store.calls.keysOf('thr', 'x').toSorted()).toEqual(['keyed', 'later', 'other', 'plain']);
    });

    it('T11 moves a call from the named states only, and drops what is sealed when it ends', () => {
      store.calls.add(call('a'));
      expect(store.calls.get('a')).toMatchObject({
        state: 'running',
        restarts: 0,
        isAsking: false,
        answer: null,
      });
      expect(store.calls.move('a', ['running'], 'subscribed')).toBe(true);
      expect(textOf(store.calls.get('a')?.sealed)).toBe('call a');
      expect(store.calls.move('a', ['running'], 'ended')).toBe(false);
      expect(store.calls.move('a', ['running', 'subscribed'], 'ended')).toBe(true);
      expect(store.calls.get('a')).toMatchObject({ state: 'ended', sealed: null });
      expect(store.calls.move('b', ['running'], 'ended')).toBe(false);
      store.calls.answer('a', sealed('answer'));
      expect(textOf(store.calls.get('a')?.answer)).toBe('answer');
    });

    it('T26 lists the calls that have not ended, oldest first, and counts their restarts', () => {
      store.calls.add(call('c', { at: 3 }));
      store.calls.add(call('a', { at: 1 }));
      store.calls.add(call('b', { at: 2 }));
      store.calls.add(call('d', { at: 4 }));
      store.calls.setAsking('b', true);
      store.calls.move('c', ['running'], 'subscribed');
      store.calls.move('d', ['running'], 'ended');
      store.calls.countRestart();
      store.calls.countRestart();
      const rows = store.calls.open().map(({ key, restarts, isAsking }: CallRow) => [key, restarts, isAsking]);
      expect(rows).toEqual([
        ['a', 2, false],
        ['b', 0, true],
        ['c', 0, false],
      ]);
      store.calls.setAsking('b', false);
      expect(store.calls.get('b')?.isAsking).toBe(false);
    });

    it('forgets the oldest of those that have ended, and answers beyond their bytes', () => {
      for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        store.calls.add(call(key, { at: index }));
        store.calls.answer(key, sealed('1234'));
        if (key !== 'a') store.calls.move(key, ['running'], 'ended');
      }
      store.calls.sweep({ before: 2, rowsMax: 100, answersBytesMax: 100 });
      const left = (): string[] => ['a', 'b', 'c', 'd', 'e'].filter((key) => store.calls.get(key) !== undefined);
      expect(left()).toEqual(['a', 'c', 'd', 'e']); // the first one runs
      store.calls.sweep({ before: 0, rowsMax: 2, answersBytesMax: 100 });
      expect(left()).toEqual(['a', 'd', 'e']);
      store.calls.sweep({ before: 0, rowsMax: 2, answersBytesMax: 11 });
      expect(['a', 'd', 'e'].map((key) => textOf(store.calls.get(key)?.answer))).toEqual([undefined, '1234', '1234']);
      expect(store.calls.get('a')?.answer).toBeNull();
    });
  });

  it('T15 T30 keeps messages in order, retries them, and drops those of a subscription', () => {
    const add = (message: string, subscription: string | null): number =>
      store.messages.add({ lane: 'l', message, sealed: sealed(message), subscription, at: 5, due: 6 });
    const [a, b, c, d] = [add('a', null), add('b', 's'), add('c', 't'), add('d', 's')];
    expect([a, b, c, d]).toEqual([a, b, c, d].toSorted((one, other) => one - other));
    expect([store.messages.count(), store.messages.countOf('s')]).toEqual([4, 2]);
    store.messages.retry(c, 3, 99);
    expect(store.messages.get(c)).toMatchObject({ message: 'c', subscription: 't', at: 5, due: 99, attempts: 3 });
    expect(textOf(store.messages.get(a)?.sealed)).toBe('a');
    expect(store.messages.get(a)).toMatchObject({ subscription: null, attempts: 0, lane: 'l' });
    expect([store.messages.deleteOf('s'), store.messages.deleteOf('s')]).toEqual([2, 0]);
    expect(store.messages.all().map(({ seq, lane }) => [seq, lane])).toEqual([
      [a, 'l'],
      [c, 'l'],
    ]);
    store.messages.delete(a);
    store.messages.delete(c);
    expect([store.messages.get(c), store.messages.count()]).toEqual([undefined, 0]);
    expect(add('e', null)).toBeGreaterThan(d); // a number is never used again
  });

  it('T27 T37 keeps subscriptions, their events, and threads without one', () => {
    const row = { thread: 'thr', call: 'c', tool: 't', sealed: sealed('s'), at: 2, expires: 50 };
    expect([store.subscriptions.add({ ...row, id: 's2' }), store.subscriptions.add({ ...row, id: 's2' })]).toEqual([
      true,
      false,
    ]);
    store.subscriptions.add({ ...row, id: 's1', at: 1, thread: 'other', expires: 51 });
    expect(store.subscriptions.all().map(({ id }) => id)).toEqual(['s1', 's2']);
    expect(store.subscriptions.of('thr')).toMatchObject([{ id: 's2', call: 'c', tool: 't', at: 2, expires: 50 }]);
    expect([store.subscriptions.expired(49), store.subscriptions.expired(50)]).toEqual([[], ['s2']]);

    expect([
      store.events.add('s1', 'e', 10),
      store.events.add('s1', 'e', 11),
      store.events.add('gone', 'e', 10),
    ]).toEqual([true, false, true]);
    store.events.sweep(5, 11);
    expect([store.events.add('s1', 'e', 12), store.events.add('gone', 'e', 12)]).toEqual([false, true]);
    store.events.sweep(11, 11);
    expect(store.events.add('s1', 'e', 13)).toBe(true);

    for (const thread of ['thr', 'silent', 'late']) store.threads.seen(thread, 5);
    store.threads.seen('late', 9);
    expect(store.threads.silentSince(9)).toEqual(['silent']);
    store.subscriptions.delete('s2');
    expect(store.threads.silentSince(9).toSorted()).toEqual(['silent', 'thr']);
    store.threads.delete('silent');
    expect(store.threads.silentSince(9)).toEqual(['thr']);
  });

  it('T44 keeps what a thread remembers, and which views it shows', () => {
    store.memory.set('thr', 'a', sealed('1'));
    store.memory.set('thr', 'a', sealed('2'));
    store.memory.addMissing('thr', 'a', sealed('3'));
    store.memory.addMissing('thr', 'b', sealed('4'));
    store.memory.set('other', 'a', sealed('5'));
    expect([textOf(store.memory.get('thr', 'a')), textOf(store.memory.get('thr', 'b'))]).toEqual(['2', '4']);
    store.memory.delete('thr', 'b');
    expect(store.memory.of('thr').map(({ name }) => name)).toEqual(['a']);
    store.memory.deleteOf('thr');
    expect([store.memory.of('thr'), textOf(store.memory.get('other', 'a'))]).toEqual([[], '5']);
    store.views.add('thr', 'v');
    store.views.add('thr', 'v');
    store.views.add('thr', 'w');
    expect([store.views.delete('thr', 'v'), store.views.delete('thr', 'v')]).toEqual([true, false]);
    store.views.deleteOf('thr');
    expect(store.views.delete('thr', 'w')).toBe(false);
  });

  it('T41 T42 gives a login once, and keeps one token per provider and owner', () => {
    store.logins.add('state', sealed('l'), 10);
    store.logins.add('old', sealed('o'), 4);
    store.logins.sweep(5);
    expect(store.logins.take('old')).toBeUndefined();
    const login = store.logins.take('state');
    expect([textOf(login?.sealed), login?.expires]).toEqual(['l', 10]);
    expect(store.logins.take('state')).toBeUndefined();
    store.tokens.set('p', 'o', sealed('1'), 1);
    store.tokens.set('p', 'o', sealed('2'), 2);
    expect([textOf(store.tokens.get('p', 'o')), store.tokens.get('p', 'x')]).toEqual(['2', undefined]);
    store.tokens.delete('p', 'o');
    expect(store.tokens.get('p', 'o')).toBeUndefined();
  });

  it('T43 keeps the questions of a call in their order, and forgets them after it', () => {
    const ask = (path: string, ordinal: number, key = 'k'): void =>
      store.questions.place({ path, key, call: 'c', ordinal, sealed: sealed(path), expires: 5 });
    store.calls.add(call('k'));
    ask('/a', 0);
    ask('/b', 1);
    ask('/c', 2);
    ask('/other', 1, 'ended');
    ask('/b2', 1);
    expect([store.questions.at('k', 0)?.path, store.questions.at('k', 1)?.path, store.questions.at('k', 2)]).toEqual([
      '/a',
      '/b2',
      undefined,
    ]);
    store.questions.answer('/a', sealed('left'));
    expect(textOf(store.questions.get('/a')?.sealed)).toBe('left');
    expect(store.questions.get('/a')).toMatchObject({ key: 'k', call: 'c', ordinal: 0, expires: 5 });
    expect(store.questions.get('/b')).toBeUndefined();
    store.questions.sweep(6);
    expect([store.questions.get('/a')?.path, store.questions.get('/other')]).toEqual(['/a', undefined]);
    store.calls.move('k', ['running'], 'ended');
    store.questions.sweep(5);
    expect(store.questions.get('/a')).toBeDefined();
    store.questions.sweep(6);
    expect(store.questions.get('/a')).toBeUndefined();
  });

  it('changes no row that was read', () => {
    store.calls.add(call('a'));
    const before = store.calls.get('a');
    store.calls.move('a', ['running'], 'ended');
    expect(before?.state).toBe('running');
  });
}
