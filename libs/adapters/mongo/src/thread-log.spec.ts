import { type Append, Fault } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { describe, expect, it } from 'vitest';
import type { MongoServer } from './mongo-server.ts';
import { createThreadLog } from './thread-log.ts';

/** A server that takes so many inserts and is gone then, which a real one does not do at the right moment. */
function goneAfter(inserts: number): { readonly server: MongoServer; readonly stored: string[] } {
  const stored: string[] = [];
  const insertMany = async (documents: readonly { readonly _id: string }[]): Promise<void> => {
    if (inserts-- <= 0) throw Object.assign(new Error('no primary'), { name: 'MongoServerSelectionError' });
    stored.push(...documents.map(({ _id }) => _id));
  };
  const counted = { reads: 0, writes: 0, groups: 0, commits: 0, unknownOutcomes: 0 };
  return { server: { collection: () => ({ insertMany }), counted } as unknown as MongoServer, stored };
}

function groupOfThree(): readonly Append[] {
  const thread = freshKey();
  return [
    { commit: commitOf(freshKey(), 0), owes: false },
    { commit: commitOf(thread, 0), owes: false },
    { commit: commitOf(thread, 1), owes: false, follows: true },
  ];
}

describe('a server that goes away', () => {
  it('M4: before anything of a group was sent, its group fails', async () => {
    const { server } = goneAfter(0);
    await expect(createThreadLog(server).append(groupOfThree())).rejects.toThrow(Fault);
  });

  it('M4: between two inserts of one group, those that are stored are told so, and the rest is unknown', async () => {
    const { server, stored } = goneAfter(1);
    expect(await createThreadLog(server).append(groupOfThree())).toEqual(['appended', 'appended', 'unknown']);
    expect(stored).toHaveLength(2);
  });
});
