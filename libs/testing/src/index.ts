export { checkers, type Checker, checkHistory } from './invariants/check-history.ts';
export * from './invariants/history.ts';
export { type Reading, readHistory } from './invariants/reading.ts';
