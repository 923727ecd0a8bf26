export type { Broker, Group, Member, TopicName } from './buses/broker.ts';
export type { DurablePart } from './durable-part.ts';
export { type Gate, openGate, type Operation } from './gate.ts';
export { createManualClock, type ManualClock, settle } from './manual-clock.ts';
export { createMemoryMetrics, type MemoryMetrics } from './metrics.ts';
export { plainCipher } from './plain-cipher.ts';
export { plainSealer } from './plain-sealer.ts';
export { createSeededEntropy, seededFraction } from './seeded-entropy.ts';
export type { ToolNetwork, ToolPeer } from './tool-network.ts';
export {
  createMemoryWorld,
  type MemoryPorts,
  type MemoryWorld,
  type MemoryWorldOptions,
  type Topology,
} from './world.ts';
export type { WorldObserver } from './world-observer.ts';
