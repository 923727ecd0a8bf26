// One installation has one database and one prefix of topics. Two that share either would decide each other's inputs,
// or lose them: both sides carry a mark, written by `setup`, compared by it and by every start. So does the database
// for the master key: a process with another one would give out callback URLs that no gateway takes.
//
// Invariants:
//   N1. Existing data is examined before anything is written; nothing of another installation is ever changed.
//   N2. Of two that are set up at the same time on one prefix, at least one is refused.
//   N3. The database notes another master key only when no secret is left that an older one has sealed: a process that
//       lacks the older one may start from then on, and one that lacks the newer one may not.
import type { BusIdentity, KafkaBus } from '@dormouse/adapter-kafka';
import type { Installation, MongoStores } from '@dormouse/adapter-mongo';
import { Fault } from '@dormouse/ports';

export interface Marks {
  readonly bus: BusIdentity;
  /** Installations whose mark the topics carry. */
  readonly onTopics: readonly string[];
  readonly inDatabase: Installation | null;
  /** Of all master keys of the process that compares. (key-ring.ts) */
  readonly masterKeys: readonly string[];
}

type Marked = Pick<MongoStores, 'installation'>;

/** @throws Fault TOPICS_UNFIT and MASTER_KEY_WRONG with the repair step, UNAVAILABLE. */
export async function checkInstallation(kafka: KafkaBus, mongo: Marked, masterKeys: readonly string[]): Promise<void> {
  const marks = await marksOf(kafka, mongo, masterKeys);
  refuse(marks, isSetUp(marks) ? null : notSetUp);
}

/** Before anything is created. @throws as `checkInstallation`. (N1) */
export async function refuseOthers(kafka: KafkaBus, mongo: Marked, masterKeys: readonly string[]): Promise<void> {
  refuse(await marksOf(kafka, mongo, masterKeys), null);
}

/**
 * Marks what is unmarked, with the key `inUse`; changes nothing that is already ours. @throws as `checkInstallation`.
 * (N1)
 */
export async function claimInstallation(
  kafka: KafkaBus,
  mongo: Marked,
  masterKeys: readonly string[],
  inUse: string,
): Promise<void> {
  await refuseOthers(kafka, mongo, masterKeys);
  const { id } = await mongo.installation.claim(kafka.identity, inUse);
  await kafka.mark(id);
  await refuseOthers(kafka, mongo, masterKeys); // (N2)
}

async function marksOf(kafka: KafkaBus, mongo: Marked, masterKeys: readonly string[]): Promise<Marks> {
  const [onTopics, inDatabase] = await Promise.all([kafka.marks(), mongo.installation.read()]);
  return { bus: kafka.identity, onTopics, inDatabase, masterKeys };
}

function refuse(marks: Marks, otherwise: string | null): void {
  const problem = problemOf(marks) ?? otherwise;
  if (problem !== null) throw new Fault('TOPICS_UNFIT', problem);
  const keyProblem = keyProblemOf(marks);
  if (keyProblem !== null) throw new Fault('MASTER_KEY_WRONG', keyProblem);
}

/**
 * Null when the key that the database notes is one of these, or it was set up by a version that did not note it. It
 * notes the one with which every secret is sealed. (N3)
 */
export function keyProblemOf({ inDatabase, masterKeys }: Pick<Marks, 'inDatabase' | 'masterKeys'>): string | null {
  const noted = inDatabase?.masterKey ?? null;
  if (noted === null || masterKeys.includes(noted)) return null;
  return 'DORMOUSE_MASTER_KEY is not the key of this installation: secrets could not be read, and no result would be taken. Set the key that the other processes have. If it is lost, docs/how-to/survive-a-disaster.md says how another one is accepted.';
}

const notSetUp = 'The topics and the database were never set up together. Do it with: npm run setup';

const isSetUp = ({ onTopics, inDatabase }: Marks): boolean => onTopics.length > 0 && (inDatabase?.bus ?? null) !== null;

/** Null when none of it belongs to another installation. */
export function problemOf({ bus, onTopics, inDatabase }: Marks): string | null {
  const others = onTopics.filter((id) => id !== inDatabase?.id);
  const { prefix } = bus;
  if (others.length > 0)
    return inDatabase === null
      ? `The topics under ${prefix} belong to the installation ${others.join(', ')}, and this database to none. Choose another DORMOUSE_KAFKA_PREFIX and run: npm run setup. Or name the database of that installation in DORMOUSE_MONGO_URL.`
      : `The topics under ${prefix} belong to the installation ${others.join(', ')}, and this database to ${inDatabase.id}. Choose another DORMOUSE_KAFKA_PREFIX, or name the database that belongs to them in DORMOUSE_MONGO_URL. If two were set up at once, delete the topic ${prefix}installation-… of the one that is not to be.`;
  const ours = inDatabase?.bus ?? null;
  if (ours === null) return null;
  if (ours.prefix !== prefix || ours.cluster !== bus.cluster)
    return `This database belongs to the topics under ${ours.prefix} of the Kafka cluster ${ours.cluster}, and these are under ${prefix} of ${bus.cluster}. Mend DORMOUSE_KAFKA_PREFIX or DORMOUSE_KAFKA_BROKERS, or DORMOUSE_MONGO_URL. To move on purpose: docs/how-to/move-to-other-topics.md`;
  if (ours.partitions !== bus.partitions)
    return `The topics under ${prefix} have ${bus.partitions} partitions, and were set up with ${ours.partitions}. Somebody changed them by hand: a thread's order would be lost. Move to new topics with ${ours.partitions}: docs/how-to/move-to-other-topics.md`;
  return null;
}
