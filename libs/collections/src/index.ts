// Collections and timing helpers without I/O: maps that forget, rounds by weight, a fair semaphore, shared reads,
// backoff.
export * from './backoff.ts';
export * from './bounded-map.ts';
export * from './deficit-rounds.ts';
export * from './end-of-tick.ts';
export * from './fair-semaphore.ts';
export * from './heaviest.ts';
export * from './murmur2.ts';
export * from './on-abort.ts';
export * from './shared-reads.ts';
export * from './shared-room.ts';
export * from './thread-map.ts';
export * from './transient-map.ts';
