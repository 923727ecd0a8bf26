// What the stores answer, counted.
import type { MemoryWorld } from '@dormouse/adapter-memory';

export function countOutcomes(world: MemoryWorld, counted: (path: string) => void): void {
  const { log, broker } = world.durable;
  const append = log.append.bind(log);
  log.append = (given) => {
    const outcome = append(given);
    if (outcome === 'conflict') counted('version conflict');
    if (outcome === 'duplicate') counted('duplicate found by the index');
    return outcome;
  };
  const commit = broker.commit.bind(broker);
  broker.commit = (...about) => {
    const taken = commit(...about);
    if (!taken) counted('zombie offset refused');
    return taken;
  };
}
