// Adds the release that is checked out to the corpus, for every later one to read:
//
//   npm run build && node --conditions=dormouse-source test/upgrades/write-corpus.ts [standalone|cluster]
//
// Once per release, when its tests are green and before its tag. It says what it wrote; both kinds by default.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endClusters, startCluster } from '../cluster/cluster-process.ts';
import { openThread, type System } from '../e2e/conversation.ts';
import { driveToolServer } from '../e2e/driven-tool-server.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { dumpCollections, dumpTopics } from './cluster-dump.ts';
import { bytesMax, copyKeys, corpus, type Kind, pack, type Release } from './corpus.ts';
import { playThreads, type Recorded, recordedOf } from './recorded-threads.ts';

const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim();
const kinds: readonly Kind[] = ['standalone', 'cluster'];
const wanted = process.argv.slice(2);
/** Of a cluster over servers of its own. */
const ownDatabase = 'dormouse';

try {
  for (const kind of kinds) {
    if (wanted.length > 0 && !wanted.includes(kind)) continue;
    const directory = join(corpus, commit, kind);
    if (existsSync(directory)) throw new Error(`${directory} is there already: a recorded release is never changed`);
    await { standalone: recordStandalone, cluster: recordCluster }[kind](directory);
    const bytes = readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
    if (bytes > bytesMax) throw new Error(`${directory} has ${bytes} bytes, and may have ${bytesMax}: record less`);
    process.stdout.write(`${directory}: ${bytes} bytes\n`);
  }
} finally {
  await endClusters();
  await cleanUp();
}

async function recordStandalone(directory: string): Promise<void> {
  const at = await startStandalone({ args: ['--no-example-tools'] });
  const recorded = await played(at);
  await at.stop('SIGKILL'); // the newest commits are in the write-ahead log
  for (const file of ['dormouse.db', 'dormouse.db-wal']) pack(directory, file, readFileSync(join(at.dataDir, file)));
  copyKeys(at.dataDir, directory);
  note(directory, recorded);
}

async function recordCluster(directory: string): Promise<void> {
  const at = await startCluster('its own');
  const { kafka, mongo } = at.servers;
  const recorded = await played(at);
  const thread = await openThread(at, 'scripted-1');
  const processor = at.pids['thread-processor'] ?? 0;
  process.kill(processor, 'SIGSTOP'); // what is accepted now stays in its topic
  try {
    const { json } = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'decide me later' });
    const collections = await dumpCollections(mongo, ownDatabase);
    if (!collections.includes('"commits"')) throw new Error(`the database ${ownDatabase} has no commits`);
    pack(directory, 'collections.json', collections);
    pack(directory, 'topics.json', JSON.stringify(await dumpTopics(kafka, at.prefix)));
    copyKeys(at.directory, directory);
    note(directory, { ...recorded, undecided: { thread, message: json.id } });
  } finally {
    process.kill(processor, 'SIGCONT');
  }
  await at.stop();
}

async function played(at: System): Promise<Recorded> {
  const tools = await driveToolServer(at);
  try {
    const { threads, call } = await playThreads(at, tools);
    const said = await Promise.all(
      Object.entries(threads).map(async ([name, id]) => [name, await recordedOf(at, id)] as const),
    );
    return { threads: Object.fromEntries(said), call };
  } finally {
    await tools.close();
  }
}

function note(directory: string, recorded: Release['expected']): void {
  writeFileSync(join(directory, 'expected.json'), `${JSON.stringify(recorded, null, 1)}\n`);
}
