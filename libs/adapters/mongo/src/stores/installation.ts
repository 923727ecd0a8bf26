// The one document that names the installation of a database, and the topics that belong to it.
//
// Invariants:
//   I1. An id is set once, and never again; of several callers at the same time one wins, and all get its id.
//   I2. The bus is written once. Only an operator removes it, to move to another bus on purpose.
import { randomBytes } from 'node:crypto';
import { isDuplicate, type MongoServer } from '../mongo-server.ts';

export interface InstallationBus {
  readonly cluster: string;
  readonly prefix: string;
  readonly partitions: number;
}

export interface Installation {
  readonly id: string;
  /** Null when an operator has removed it. */
  readonly bus: InstallationBus | null;
}

export interface InstallationRecord {
  /** Null in a database that was never set up. @throws Fault UNAVAILABLE. */
  read(): Promise<Installation | null>;
  /** The document afterwards: with this bus only if none was written before. @throws Fault UNAVAILABLE. */
  claim(bus: InstallationBus): Promise<Installation>;
}

interface InstallationDocument {
  readonly _id: 'installation';
  readonly id: string;
  readonly bus?: InstallationBus;
}

export function createInstallationRecord(server: MongoServer): InstallationRecord {
  const documents = server.collection<InstallationDocument>('installation');
  const _id = 'installation';

  async function read(): Promise<Installation | null> {
    const found = await server.read(() => documents.findOne({ _id }));
    return found === null ? null : { id: found.id, bus: found.bus ?? null };
  }

  return {
    read,
    claim: async (bus) => {
      const id = randomBytes(8).toString('hex');
      try {
        await server.write(() => documents.insertOne({ _id, id, bus })); // (I1)
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        await server.write(() => documents.updateOne({ _id, bus: { $exists: false } }, { $set: { bus } })); // (I2)
      }
      return (await read()) ?? { id, bus };
    },
  };
}
