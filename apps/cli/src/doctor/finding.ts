// What a check found, and what follows for the exit code.

export type Level = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly check: string;
  readonly level: Level;
  /** What was seen, in a sentence. */
  readonly detail: string;
  /** What to do; null where nothing has to be done. */
  readonly next: string | null;
}

export const ok = (check: string, detail: string): Finding => ({ check, level: 'ok', detail, next: null });
export const warn = (check: string, detail: string, next: string): Finding => ({ check, level: 'warn', detail, next });
export const fail = (check: string, detail: string, next: string): Finding => ({ check, level: 'fail', detail, next });

/** 0 when all is in order, 1 with a warning, 2 with a failure. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'fail')) return 2;
  return findings.some(({ level }) => level === 'warn') ? 1 : 0;
}

export function wordsOf({ check, level, detail, next }: Finding): string {
  const line = `${level.padEnd(4)}  ${check}: ${detail}`;
  return next === null ? line : `${line}\n      → ${next}`;
}
