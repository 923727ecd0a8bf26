// The judge of a chaos run, seen red: a message in two logs, and neighbours that wait for a crowd.
import { tenantId } from '@dormouse/ports';
import { emptyHistory, type History, type SentRequest } from '@dormouse/testing';
import { sealCommit } from '@dormouse/runtime';
import { defaultPolicies } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { countFindings, judge } from './judge.ts';
import { type Phase, phasesOfFaults, waitsOf } from './neighbours.ts';

type Events = Parameters<typeof sealCommit>[0]['events'];

const key = (thread: string) => ({ tenant: tenantId('default'), thread });
const phases: readonly Phase[] = [
  { name: 'quiet', from: 0, until: 1_000 },
  { name: 'crowd', from: 1_000, until: 2_000 },
];

/** A thread in which each message, named by its time, is answered so many milliseconds later; null for never. */
function thread(name: string, said: Readonly<Record<number, number | null>>, onInterrupt: 'queue' | 'keep' = 'queue') {
  const begun = { at: 0, input: `open:${name}`, events: [openedWith(onInterrupt)] };
  const turns = Object.entries(said).flatMap(([at, waited]) => [
    { at: Number(at), input: `c:${at}`, events: [{ type: 'MessageAccepted', messageId: `msg_${at}`, content: [] }] },
    ...(waited === null ? [] : [{ at: Number(at) + waited, input: `m:${at}`, events: [answer] }]),
  ]);
  const commits = [begun, ...turns].map(({ at, input, events }, version) =>
    sealCommit({
      ...{ key: key(name), version, inputs: [input], at, nonce: 'n', trace: null, prev: '', effects: [] },
      events: events as unknown as Events,
    }),
  );
  return { key: key(name), commits };
}

const openedWith = (onInterrupt: 'queue' | 'keep') => ({
  type: 'ThreadOpened',
  toolServers: ['recorder'],
  policies: { ...defaultPolicies, onInterrupt },
});
const answer = { type: 'CompletionRecorded', final: true };

const request = (name: string, at: number): SentRequest => ({
  ...{ key: key(name), kind: 'message', inputId: `c:${at}`, messageId: `msg_${at}` },
  ...{ sentAt: at, answeredAt: at + 1 },
});

const historyOf = (threads: History['threads'], requests: readonly SentRequest[]): History => ({
  ...emptyHistory,
  threads,
  requests,
});

describe('the judge of a chaos run', () => {
  it('counts how long the messages of a phase waited, those without an answer too, and no others’', () => {
    const history = historyOf(
      [thread('one', { 100: 50, 200: 70, 1_100: 30, 1_900: 500, 1_950: null }), thread('two', { 300: 9 }, 'keep')],
      [...[100, 200, 1_100, 1_900, 1_950].map((at) => request('one', at)), request('two', 300)],
    );
    expect(waitsOf(history, 'recorder', phases)).toEqual({
      quiet: { messages: 2, inTime: 2, never: 0, p50: 70, p99: 70, max: 70 },
      crowd: { messages: 3, inTime: 1, never: 1, p50: 500, p99: 500, max: 500 },
    });
  });

  it('tells the waits around each fault from those at other times', () => {
    const said = { 500: 10, 9_500: 700, 14_000: 20, 40_000: 30 };
    const history = historyOf(
      [thread('one', said)],
      Object.keys(said).map((at) => request('one', Number(at))),
    );
    const faults = { name: 'faults', from: 0, until: 60_000 };
    const parts = phasesOfFaults(faults, [{ name: 'a broker killed', from: 10_000, until: 12_000 }]);
    expect(waitsOf(history, 'recorder', parts)).toMatchObject({
      'faults: a broker killed': { messages: 2, max: 700 },
      'faults: at other times': { messages: 2, max: 30 },
    });
  });

  it('finds an acknowledged message that stands in two logs', () => {
    const history = historyOf([thread('one', { 100: 50 }), thread('two', { 100: 50 })], [request('one', 100)]);
    const found = judge(history, {});
    expect(found).toContainEqual({ id: 'one log', text: 'c:100 is in default:one, default:two' });
    expect(countFindings(found).doubled).toBeGreaterThan(0);
  });

  it('finds neighbours most of whom got no answer beside the crowd, and counts an acknowledged message in no log as lost', () => {
    const history = historyOf(
      [thread('one', { 1_100: 50, 1_200: null })],
      [1_100, 1_200, 1_300].map((at) => request('one', at)),
    );
    const found = judge({ ...history, unrest: [] }, waitsOf(history, 'recorder', phases));
    expect(found).toContainEqual({
      id: 'neighbours',
      text: 'beside the crowd, without a fault, 1 of 3 messages were answered before it ended',
    });
    expect(countFindings(found)).toMatchObject({ lost: 1 });
  });
});
