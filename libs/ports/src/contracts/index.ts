export type { Advance } from './until.ts';
export { dispatchLedgerContract, type DispatchLedgerUnderTest } from './dispatch-ledger.contract.ts';
export { createInputRecorder, type InputRecorder } from './input-recorder.ts';
export { inputBusContract, type InputBusUnderTest } from './input-bus.contract.ts';
export { threadLogContract, type ThreadLogUnderTest } from './thread-log.contract.ts';
export { workBusContract, type WorkBusUnderTest } from './work-bus.contract.ts';
export { commitOf, freshKey, messageOf } from './samples.ts';
