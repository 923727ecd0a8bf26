export { checkers, type Checker, checkHistory } from './invariants/check-history.ts';
export * from './invariants/history.ts';
export { type Reading, readHistory } from './invariants/reading.ts';
export { agentOf, modelOf, modelRequestOf, toolServerOf } from './samples.ts';
export { judgeSeed, type SeedOrder } from './simulator/judge-seed.ts';
export { type Mutant, type MutantContext, soundInstallation } from './simulator/mutant.ts';
export { mutants } from './simulator/mutants.ts';
export { type Topology, topologyOf } from './simulator/world/topology.ts';
export { runUniverse, type UniverseOptions, type UniverseResult } from './simulator/world/universe.ts';
