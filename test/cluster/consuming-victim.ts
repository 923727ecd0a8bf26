// A process that consumes and finishes nothing, to be killed: node consuming-victim.ts <brokers> <prefix>. Prints the
// id of every input that it received, one a line.
import { openKafka } from '@dormouse/adapter-kafka';
import { createInputRecorder } from '@dormouse/ports/contracts';

const [brokers = '', prefix = ''] = process.argv.slice(2);
const logger = { info: () => {}, warn: () => {}, error: () => {} };
const bus = await openKafka({
  ...{ brokers: brokers.split(','), prefix, clientId: 'victim', logger },
  sessionTimeoutMs: 3_000,
});
const given = createInputRecorder((delivery) => {
  if (delivery.what === 'input') process.stdout.write(`${delivery.input.id}\n`);
});
await bus.inputs.consume(given);
