// A process to be killed: it opens a data directory, answers inputs with commits as fast as it can, and prints each
// input that was acknowledged. Run with: node --conditions=dormouse-source sqlite-victim.ts DIRECTORY ROUND
import { openSqlite } from '@dormouse/adapter-sqlite';
import { tenantId, type InputConsumer, type ThreadDelivery } from '@dormouse/ports';
import { commitOf, messageOf } from '@dormouse/ports/contracts';

const [directory = '', round = ''] = process.argv.slice(2);
const threads = 32;
const stores = await openSqlite({ directory });
const versions = new Map<string, number>();

async function decide(delivery: ThreadDelivery): Promise<void> {
  if (delivery.what !== 'input') return;
  const { tenant, thread, input } = delivery;
  const known = versions.get(thread);
  const head = known === undefined ? await stores.log.head(delivery) : null;
  const version = known ?? (head ? head.version + head.count : 0);
  const commit = commitOf({ tenant, thread }, version, { inputs: [input.id] });
  const [outcome] = await stores.log.append([{ commit, owes: true }]);
  if (outcome !== 'appended') throw new Error(`unexpected ${outcome}`);
  versions.set(thread, version + 1);
  delivery.decided(version);
  // The debts of threads with odd numbers are never paid.
  if (Number(thread.slice(4)) % 2 === 0) delivery.release();
}

const consumer: InputConsumer = {
  assigned: () => undefined,
  revoked: async () => undefined,
  deliver: (_assignment, delivery) => void decide(delivery),
  busy: () => false,
};
await stores.inputs.consume(consumer);
process.stdout.write('ready\n');

async function converse(thread: string): Promise<void> {
  for (let message = 0; ; message += 1) {
    const id = `r${round}-${message}`;
    await stores.inputs.publish({ tenant: tenantId('acme'), thread }, messageOf(id));
    process.stdout.write(`acked ${thread} ${id}\n`);
  }
}

await Promise.all(Array.from({ length: threads }, (_, index) => converse(`thr_${index}`)));
