// What was thrown, in words and by its code.
import { CliFailure, exitCodes } from './exit-code.ts';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.some((code) => code === error.code);

export const isThereAlready = (file: string): CliFailure =>
  new CliFailure(exitCodes.failed, `${file} is there already.`, 'An existing file is never overwritten.');
