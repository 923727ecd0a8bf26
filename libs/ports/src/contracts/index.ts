export { threadLogContract, type ThreadLogUnderTest } from './thread-log.contract.ts';
