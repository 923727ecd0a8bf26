import { type Append, Fault } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { describe, expect, it } from 'vitest';
import type { MongoServer } from '../mongo-server.ts';
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
  readonly server: MongoServer;
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
  const connection = { model: () => ({ collection: { insertMany } }) };
  return { server: { connection, counted, read, timedAppend } as unknown as MongoServer, stored };
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
    const { server } = goneAfter();
    await expect(createThreadLog(server).append(groupOfThree())).rejects.toThrow(Fault);
  });

  it('M4: between two inserts of one group, those that are stored are told so, and the rest is unknown', async () => {
    const { server, stored } = goneAfter([]);
    expect(await createThreadLog(server).append(groupOfThree())).toEqual(['appended', 'appended', 'unknown']);
    expect(stored).toHaveLength(2);
  });

  it('M4: while it is asked which key was taken, the others keep what they are told', async () => {
    const { server, stored } = goneAfter([{ index: 1, code: taken }]);
    expect(await createThreadLog(server).append(threads(3))).toEqual(['appended', 'unknown', 'appended']);
    expect(stored).toHaveLength(2);
  });

  it('M4: while one of an insert is tried again, the others keep what they are told', async () => {
    const { server, stored } = goneAfter([{ index: 1, code: deadlock }]);
    expect(await createThreadLog(server).append(threads(2))).toEqual(['appended', 'unknown']);
    expect(stored).toHaveLength(1);
  });

  it('M4: while all of an insert are tried again, none of them was taken', async () => {
    const refusals = [0, 1].map((index) => ({ index, code: deadlock }));
    await expect(createThreadLog(goneAfter(refusals).server).append(threads(2))).rejects.toThrow(Fault);
  });
});
