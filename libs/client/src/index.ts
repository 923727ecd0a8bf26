export * from './api-problem.ts';
export * from './client.ts';
export * from './export-file.ts';
export * from './export-thread.ts';
export * from './follow.ts';
export type { TenantEvent, TenantEventsOptions } from './tenant-events.ts';
export * from './thread-event.ts';
export * from './toolset-change.ts';
export * from './verify-chain.ts';
