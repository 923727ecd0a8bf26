export type { Advance } from './until.ts';
export { dispatchLedgerContract, type DispatchLedgerUnderTest } from './dispatch-ledger.contract.ts';
export { inputBusContract, type InputBusUnderTest } from './input-bus.contract.ts';
export { threadLogContract, type ThreadLogUnderTest } from './thread-log.contract.ts';
export { workBusContract, type WorkBusUnderTest } from './work-bus.contract.ts';
