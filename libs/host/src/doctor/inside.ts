// `npm run doctor`: looks at the servers of a cluster with the settings of its processes, and says what to do. The same
// findings as `dormouse doctor`, which looks from outside.
//
// Invariants:
//   I1. Nothing is made or changed. A server that does not answer is a finding, and the others are looked at all the
//       same.
import { type GroupLag, type KafkaBus, openKafka } from '@dormouse/adapter-kafka';
import { type InstallationRecord, openMongo } from '@dormouse/adapter-mongo';
import { inspectRedis } from '@dormouse/adapter-redis';
import { Fault, type Logger } from '@dormouse/ports';
import { statfs } from 'node:fs/promises';
import { type ClusterConfig, tlsFilesOf } from '../config.ts';
import { checkInstallation } from '../platform/installation.ts';
import type { ProcessKeys } from '../platform/kms/key-management.ts';
import { kafkaOptions, keysOf, marksOf, mongoOptions } from '../platform/topology.ts';
import { tlsOptions } from '../tls-files.ts';

type Level = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly check: string;
  readonly level: Level;
  readonly detail: string;
  /** What to do; null where nothing has to be done, or `detail` says it. */
  readonly next: string | null;
}

const mib = 1_048_576;
const diskWarnBytes = 1_024 * mib;
const skewMsMax = 5_000;

const finding = (check: string, level: Level, detail: string, next: string | null = null): Finding => ({
  ...{ check, level, detail, next },
});

const whereServersAreAway = 'By its reason: docs/runbooks/README.md#a-server-that-is-away';

/** A fault of an adapter says in its own words what to do, except where a server cannot tell why it is away. */
export function failed(check: string, error: unknown): Finding {
  if (!(error instanceof Fault)) throw error;
  const next = error.code === 'UNAVAILABLE' ? whereServersAreAway : null;
  return finding(check, 'fail', `${error.code}: ${error.message}`, next);
}

export async function examineServers(config: ClusterConfig, logger: Logger): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const keys = await keysOf(config, logger).catch((error: unknown) => {
    findings.push(failed('keys', error));
    return null;
  });
  if (keys !== null) findings.push(keysFinding(keys));
  const kafka = await openKafka(kafkaOptions(config, logger)).catch((error: unknown) => {
    findings.push(failed('topics', error));
    return null;
  });
  if (kafka !== null) {
    const { partitions, prefix } = kafka.identity;
    const detail = `three topics under ${prefix}, ${partitions} partitions each, retention in order`;
    findings.push(finding('topics', 'ok', detail));
    findings.push(...(await lagsOf(kafka)));
  }
  findings.push(...(await databaseOf(config, kafka, keys)));
  await kafka?.close();
  await keys?.close();
  return [...findings, await redisOf(config), await diskOf()];
}

async function lagsOf(kafka: KafkaBus): Promise<readonly Finding[]> {
  try {
    return (await kafka.lags()).map((lag) => lagFinding(lag, kafka.identity.partitions));
  } catch (error) {
    return [failed('lag', error)];
  }
}

const consumers: Readonly<Record<GroupLag['topic'], string>> = {
  inputs: 'thread-processor',
  dispatches: 'tool-dispatcher',
  notices: 'notifier',
};

/** Delays that need no operator end before this: a takeover, a restart, a burst. */
const lagWarnMs = 60_000;

export function lagFinding({ topic, group, members, records, oldestMs }: GroupLag, partitions: number): Finding {
  const check = `lag of ${topic}`;
  const service = consumers[topic];
  const consumedBy = members === 0 ? 'no process' : `${members} of ${partitions} possible processes`;
  const oldest = records === 0 ? '' : `, the oldest for ${Math.round(oldestMs / 1_000)} s`;
  const detail = `${records} records wait${oldest}; ${consumedBy} in the group ${group}`;
  if (records === 0) return finding(check, 'ok', detail);
  if (members === 0) return finding(check, 'fail', detail, `Start a ${service}.`);
  if (oldestMs < lagWarnMs) return finding(check, 'ok', detail);
  const more =
    members < partitions
      ? `Start more of ${service}, at most one per partition`
      : `Every partition has its ${service}: larger machines`;
  return finding(check, 'warn', detail, `${more}; what else may hold them: docs/runbooks/${runbooks[topic]}.md`);
}

const runbooks: Readonly<Record<GroupLag['topic'], string>> = {
  inputs: 'DormouseOldestInput',
  dispatches: 'DormouseConsumerLagGrowing',
  notices: 'DormouseConsumerLagGrowing',
};

/** Whether settings have master keys in the clear, beside a key management that could wrap them. */
export function keysFinding({
  ring,
  plain,
  unwrappedBy,
}: Pick<ProcessKeys, 'ring' | 'plain' | 'unwrappedBy'>): Finding {
  const inUse = ring.at(Date.now()).mark;
  const held = unwrappedBy === null ? 'from the settings as they are' : `${unwrappedBy} unwraps them`;
  const detail = `${ring.all.length} master keys, ${inUse} is in use; ${held}`;
  if (unwrappedBy === null || plain === 0) return finding('keys', 'ok', detail);
  const next = 'Wrap them, too: docs/how-to/keep-keys-in-vault.md';
  return finding('keys', 'warn', `${detail}, and ${plain} are in the clear`, next);
}

async function databaseOf(
  config: ClusterConfig,
  kafka: KafkaBus | null,
  keys: ProcessKeys | null,
): Promise<readonly Finding[]> {
  try {
    const look = async (installation: InstallationRecord): Promise<void> => {
      if (kafka !== null && keys !== null) await checkInstallation(kafka, { installation }, marksOf(keys.ring));
    };
    const mongo = await openMongo({ ...mongoOptions(config), indexes: 'check', look });
    try {
      const skewMs = Math.abs((await mongo.now()) - Date.now());
      const detail = `its clock differs by ${Math.round(skewMs / 1_000)} s from this one`;
      const next =
        'Let NTP set both clocks, on the machines themselves: timedatectl set-ntp true. Timers and the order of ids depend on them.';
      return [
        finding(
          'database',
          'ok',
          `${mongo.database}: its indexes are there, ${mongo.shards} shards of the log, and it belongs to these topics${keys === null ? '' : ' and this master key'}`,
        ),
        skewMs > skewMsMax ? finding('clock', 'warn', detail, next) : finding('clock', 'ok', detail),
      ];
    } finally {
      await mongo.close();
    }
  } catch (error) {
    return [failed('database', error)];
  }
}

const forms = { server: '', sentinels: ', the master of Sentinels', cluster: ', a node of a cluster' } as const;

async function redisOf(config: ClusterConfig): Promise<Finding> {
  const found = await inspectRedis(config.REDIS_URL, tlsOptions(tlsFilesOf(config, 'REDIS')));
  if (found === null)
    return finding(
      'redis',
      'warn',
      'it does not answer; everything works without it, slower',
      'See DORMOUSE_REDIS_URL.',
    );
  const { kind, version, policy, memoryBytesMax, isPersistent } = found;
  const kept = isPersistent
    ? 'it writes to disk, which nothing here needs'
    : 'it keeps nothing on disk, which is enough';
  const detail = `Redis ${version}${forms[kind]}, ${policy}, ${kept}`;
  if (memoryBytesMax === 0 || policy !== 'noeviction') return finding('redis', 'ok', detail);
  return finding('redis', 'warn', detail, 'A full one refuses writes: CONFIG SET maxmemory-policy allkeys-lru');
}

async function diskOf(): Promise<Finding> {
  const { bavail, bsize } = await statfs('.');
  const detail = `${Math.round((bavail * bsize) / mib)} MiB are free here`;
  return bavail * bsize < diskWarnBytes
    ? finding('disk', 'warn', detail, 'docs/runbooks/DormouseDiskLow.md')
    : finding('disk', 'ok', detail);
}

/** 0 when all is in order, 1 with a warning, 2 with a failure. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'fail')) return 2;
  return findings.some(({ level }) => level === 'warn') ? 1 : 0;
}

/** One line each: for people with what to do below it, or JSON. */
export function textOf(findings: readonly Finding[], isJson: boolean): string {
  const lines = findings.map((each) => {
    if (isJson) return JSON.stringify(each);
    const line = `${each.level.padEnd(4)}  ${each.check}: ${each.detail}`;
    return each.next === null ? line : `${line}\n      → ${each.next}`;
  });
  return `${lines.join('\n')}\n`;
}
