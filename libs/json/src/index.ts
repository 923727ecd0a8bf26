// Strict, bounded, resumable JSON: what comes from outside is read within limits, step by step where it is long.
export * from './canonical.ts';
export * from './check.ts';
export * from './inexact-number.ts';
export * from './limits.ts';
export * from './pointer.ts';
export * from './raw-member.ts';
export * from './read.ts';
export * from './scan.ts';
export * from './steps.ts';
