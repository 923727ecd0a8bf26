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
  const send = broker.append.bind(broker);
  broker.append = (...about) => {
    const isThere = send(...about);
    if (!isThere) counted('record answered by no broker');
    return isThere;
  };
  const poll = broker.poll.bind(broker);
  broker.poll = (topic, member, fetch) => {
    const polled = poll(topic, member, fetch);
    if (polled.polled === 'records' && polled.positions !== member.positions) counted('late answer');
    return polled;
  };
  const commit = broker.commit.bind(broker);
  broker.commit = (...about) => {
    const taken = commit(...about);
    if (!taken) counted('zombie offset refused');
    return taken;
  };
}
