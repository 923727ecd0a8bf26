import { type Append, Fault, type ThreadLog } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { describe, expect, it } from 'vitest';
import type { Model } from 'mongoose';
import type { MongoServer } from '../mongo-server.ts';
import type { CommitDocument } from './commit-document.ts';
import { shardsOf } from './shards.ts';
import { createThreadLog } from './thread-log.ts';

interface Refusal {
  /** Place in the insert. */
  readonly index: number;
  readonly code: number;
}

const taken = 11_000;
const deadlock = 16_908_292;

/** A server that refuses these documents of each insert and is then unreachable, also for reads. */
function goneAfter(...inserts: readonly (readonly Refusal[])[]): {
  readonly log: ThreadLog;
  readonly stored: string[];
} {
  const stored: string[] = [];
  let next = 0;
  const insertMany = async (documents: readonly { readonly _id: string }[]): Promise<void> => {
    const writeErrors = inserts[next++];
    if (writeErrors === undefined) throw Object.assign(new Error('no primary'), { name: 'MongoServerSelectionError' });
    for (const [place, { _id }] of documents.entries())
      if (!writeErrors.some(({ index }) => index === place)) stored.push(_id);
    if (writeErrors.length > 0) throw Object.assign(new Error('bulk'), { writeErrors });
  };
  const read = async (): Promise<never> => {
    throw new Fault('UNAVAILABLE', 'no primary');
  };
  const counted = { reads: 0, writes: 0, groups: 0, commits: 0, unknownOutcomes: 0 };
  const timedAppend = <Answer>(insert: () => Promise<Answer>): Promise<Answer> => insert();
  const server = { counted, read, timedAppend } as unknown as MongoServer;
  const commits = { collection: { insertMany } } as unknown as Model<CommitDocument>;
  let place = 0;
  const places = {
    take: async (keys: readonly unknown[]) => keys.map(() => `["acme",0,${(place += 1)}]`),
    ...{ saw: () => {}, collided: () => {}, leave: () => {} },
  };
  return { log: createThreadLog(server, commits, places, shardsOf(1)), stored };
}

const threads = (count: number): readonly Append[] =>
  Array.from({ length: count }, () => ({ commit: commitOf(freshKey(), 0), owes: false }));

function groupOfThree(): readonly Append[] {
  const thread = freshKey();
  return [
    { commit: commitOf(freshKey(), 0), owes: false },
    { commit: commitOf(thread, 0), owes: false },
    { commit: commitOf(thread, 1), owes: false },
  ];
}

describe('a server that goes away', () => {
  it('M4: before anything of a group was sent, its group fails', async () => {
    const { log } = goneAfter();
    await expect(log.append(groupOfThree())).rejects.toThrow(Fault);
  });

  it('M4: between two inserts of one group, those that are stored are told so, and the rest is unknown', async () => {
    const { log, stored } = goneAfter([]);
    expect(await log.append(groupOfThree())).toEqual(['appended', 'appended', 'unknown']);
    expect(stored).toHaveLength(2);
  });

  it('M4: while it is asked which key was taken, the others keep what they are told', async () => {
    const { log, stored } = goneAfter([{ index: 1, code: taken }]);
    expect(await log.append(threads(3))).toEqual(['appended', 'unknown', 'appended']);
    expect(stored).toHaveLength(2);
  });

  it('M4: while one of an insert is tried again, the others keep what they are told', async () => {
    const { log, stored } = goneAfter([{ index: 1, code: deadlock }]);
    expect(await log.append(threads(2))).toEqual(['appended', 'unknown']);
    expect(stored).toHaveLength(1);
  });

  it('M4: while all of an insert are tried again, none of them was taken', async () => {
    const refusals = [0, 1].map((index) => ({ index, code: deadlock }));
    await expect(goneAfter(refusals).log.append(threads(2))).rejects.toThrow(Fault);
  });
});
