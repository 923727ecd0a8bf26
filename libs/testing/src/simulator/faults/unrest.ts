// Why an installation is not at rest: deliveries not released, effects owed and not paid, requests not answered.
import type { MemoryWorld } from '@dormouse/adapter-memory';
import type { ThreadKey } from '@dormouse/ports';
import type { Observation } from '../observation.ts';
import type { Rig } from '../world/universe-rig.ts';

export function unrestOf({ world, topology, observation }: Rig): readonly string[] {
  const owed = [...world.durable.log.owed.keys()];
  const held = topology === 'durable' ? lagging(world) : owed.length > 0 ? [`owed rows of ${owed.join(', ')}`] : [];
  return [...held, ...world.threads().flatMap((key) => busyWith(observation, key))];
}

/** Partitions whose committed offset is not the end, and the record it waits for. */
function lagging({ durable: { broker } }: MemoryWorld): readonly string[] {
  return (['inputs', 'dispatches', 'notices'] as const).flatMap((topic) =>
    broker.topics[topic].flatMap((records, partition) => {
      const waitsFor = records[broker.groups[topic].committed[partition] ?? 0];
      return waitsFor === undefined
        ? []
        : [`${topic} ${partition} waits for ${waitsFor.thread} ${waitsFor.value.slice(0, 120)}`];
    }),
  );
}

function busyWith(observation: Observation, key: ThreadKey): readonly string[] {
  const thread = observation.thread(key);
  if (thread === null) return [];
  const open = thread.calls.filter((call) => call.waiting.for === 'result');
  const why = open.map((call) => `${key.thread} waits for ${call.toolCallId}`);
  if (thread.completion !== null) why.push(`${key.thread} waits for ${thread.completion.completionId}`);
  if (thread.loading !== null) why.push(`${key.thread} waits for its toolsets`);
  return why;
}
