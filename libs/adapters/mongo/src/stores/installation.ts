// The one document that names the installation of a database, and the topics that belong to it.
//
// Invariants:
//   I1. An id is set once, and never again; of several callers at the same time one wins, and all get its id.
//   I2. The bus is written once. Only an operator removes it, to move to another bus on purpose.
//   I3. The mark of the master key is written once, and again when it was rotated.
import { randomBytes } from 'node:crypto';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

export interface InstallationBus {
  readonly cluster: string;
  readonly prefix: string;
  readonly partitions: number;
}

export interface Installation {
  readonly id: string;
  /** Null when an operator has removed it. */
  readonly bus: InstallationBus | null;
  /** Names the master key without revealing it; null in a database of an earlier version, too. */
  readonly masterKey: string | null;
}

export interface InstallationRecord {
  /** Null in a database that was never set up. @throws Fault UNAVAILABLE. */
  read(): Promise<Installation | null>;
  /** The document afterwards: with this bus and this key only if none was written before. @throws Fault UNAVAILABLE. */
  claim(bus: InstallationBus, masterKey: string): Promise<Installation>;
  /** This master key in place of the one of before. (I3) @throws Fault UNAVAILABLE. */
  noteMasterKey(masterKey: string): Promise<void>;
}

interface InstallationDocument {
  readonly _id: 'installation';
  readonly id: string;
  readonly bus?: InstallationBus;
  readonly masterKey?: string;
}

const busSchema = new Schema<InstallationBus>(
  { cluster: text, prefix: text, partitions: number },
  { ...everySchema, _id: false },
);
const installationSchema = new Schema<InstallationDocument>(
  { _id: text, id: text, bus: busSchema, masterKey: { type: String } },
  { ...everySchema, collection: 'installation' },
);

export function createInstallationRecord(server: MongoServer): InstallationRecord {
  const documents = server.connection.model<InstallationDocument>('Installation', installationSchema);
  const _id = 'installation';

  async function read(): Promise<Installation | null> {
    const found = await server.read(() => documents.findOne({ _id }).lean());
    return found === null ? null : { id: found.id, bus: found.bus ?? null, masterKey: found.masterKey ?? null };
  }

  return {
    read,
    claim: async (bus, masterKey) => {
      const id = randomBytes(8).toString('hex');
      // (I1)
      if (!(await inserted(server, documents, { _id, id, bus, masterKey })))
        for (const [name, set] of Object.entries({ bus, masterKey }))
          await server.write(() => documents.updateOne({ _id, [name]: { $exists: false } }, { $set: { [name]: set } })); // (I2)
      return (await read()) ?? { id, bus, masterKey };
    },
    noteMasterKey: async (masterKey) => {
      await server.write(() => documents.updateOne({ _id }, { $set: { masterKey } }));
    },
  };
}
