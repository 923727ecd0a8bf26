// One service per process, as on a cluster. This version has no cluster adapters: it says so and does not start.
import { readConfig } from '../config.ts';

export type ServiceName = 'ingress-gateway' | 'callback-gateway' | 'thread-processor' | 'tool-dispatcher' | 'notifier';

/** Never returns: it ends the process. */
export function runService(name: ServiceName): never {
  const reading = readConfig();
  if (reading.ok === 'help') {
    process.stdout.write(reading.text);
    return process.exit(0);
  }
  const problems = reading.ok ? [] : reading.problems.map((problem) => `  ${problem}\n`);
  process.stderr.write(
    `dormouse ${name}: one service per process needs the cluster adapters (Kafka, MongoDB, Redis), which come with the next version.\n` +
      `Run everything in one process instead: npm start\n${problems.join('')}`,
  );
  return process.exit(1);
}
