// `dormouse`: the command line tool. Everything is in run-cli.ts; this file passes it the process.
import { runCli } from './run-cli.ts';
import { processTerminal } from './terminal.ts';

process.exitCode = await runCli(process.argv.slice(2), processTerminal());
