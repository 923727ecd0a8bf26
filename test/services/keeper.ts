// The process that holds one kept service: node keeper.ts <name> <place>. Ends with SIGTERM, and its servers before it.
import { writeRecord } from './kept-service.ts';
import { identityOf } from './process-identity.ts';
import { recipes } from './recipes.ts';
import { serviceCache } from './service-cache.ts';

const [name, place = ''] = process.argv.slice(2);
const recipe = recipes.find((each) => each.name === name);
const keeper = identityOf(process.pid);
if (recipe === undefined || keeper === null) throw new Error(`there is no service ${name}`);

// No handler yet: until the servers run, SIGTERM ends this process, and its exit ends what it started.
process.once('SIGTERM', () => process.exit(1));
process.on('SIGHUP', () => {});
writeRecord(place, { state: 'starting', keeper });
const started = await recipe.start({
  directory: place,
  cache: serviceCache,
  own: true,
  say: (line) => void process.stdout.write(`${line}\n`),
});
if (!started.available) {
  const { reason, remedy } = started;
  writeRecord(place, { state: 'refused', reason, remedy });
  process.exit(1);
}
const { service } = started;
process.removeAllListeners('SIGTERM');
process.once('SIGTERM', () => {
  void service.stop().then(() => process.exit(0));
});
const servers = service.pids().flatMap((pid) => identityOf(pid) ?? []);
writeRecord(place, { state: 'up', keeper, url: service.url, servers, project: service.project });
setInterval(() => {}, 2 ** 30); // until SIGTERM
