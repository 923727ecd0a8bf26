export { type CommandTable, commandTable, type DescribedCommand, type DescribedOption } from './command-table.ts';
export { exitCodes } from './exit-code.ts';
export { runCli } from './run-cli.ts';
export type { Terminal } from './terminal.ts';
