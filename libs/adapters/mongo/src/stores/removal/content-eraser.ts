// Rewrites commits without their contents. Port: ports/stores/content-eraser.ts.
import type { ContentEraser } from '@dormouse/ports';
import type { Model } from 'mongoose';
import type { MongoServer } from '../../mongo-server.ts';
import { type CommitDocument, commitIdOf } from '../../log/commit-document.ts';
import type { Shards } from '../../log/shards.ts';

const atOnce = 500;

export function createContentEraser(
  server: MongoServer,
  commits: Model<CommitDocument>,
  shards: Shards,
): ContentEraser {
  return {
    rewrite: async (changed) => {
      for (let from = 0; from < changed.length; from += atOnce) {
        const updates = changed.slice(from, from + atOnce).map((commit) => ({
          updateOne: {
            filter: { _id: commitIdOf(commit, commit.version), shard: shards.of(commit) },
            update: { $set: { kid: commit.kid, prev: commit.prev, hash: commit.hash, body: commit.body } },
          },
        }));
        await server.write(() => commits.bulkWrite(updates, { ordered: true }));
      }
    },
    scrub: () => Promise.resolve(), // a document is gone when it is deleted
    traces: {
      mongodb:
        'Keys, copies and labels are deleted. The oplog and the journal have what they were until they have rolled over.',
      redis: 'What a running completion had said was sealed, and has expired.',
      kafka: 'Inputs and dispatches are in the topics until their retention ends.',
      backups: 'A backup of before has the keys. After a restore: dormouse erasures apply',
    },
  };
}
