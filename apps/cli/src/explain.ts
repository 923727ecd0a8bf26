// Errors in words, with the next step and the exit code of each.
import { ApiProblem, ConnectionProblem } from '@dormouse/client';
import { cleanJson, cleanText } from './clean-text.ts';
import { CliFailure, type ExitCode, exitCodes } from './exit-code.ts';
import type { Hint } from './hint.ts';
import type { Terminal } from './terminal.ts';
import { messageOf } from './thrown.ts';

interface Explanation {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
  readonly next: string | null;
}

/** `list`: the command that lists what the failed one is about; null where there is none. */
export function explain(error: unknown, hint: Hint, list: string | null = null): Explanation {
  if (error instanceof CliFailure) {
    const { exitCode, code, message, next } = error;
    return { exitCode, code: code ?? codeOf(exitCode), message, next };
  }
  if (error instanceof ConnectionProblem) {
    return {
      exitCode: exitCodes.unreachable,
      code: codeOf(exitCodes.unreachable),
      message: `${error.message}.`,
      next: 'Is it running? Start it with: npm start. Is it elsewhere? Pass --url.',
    };
  }
  if (error instanceof ApiProblem) return explainProblem(error, hint, list);
  return {
    exitCode: exitCodes.failed,
    code: 'UNEXPECTED',
    message: messageOf(error),
    next: null,
  };
}

/** A failure without an API code is named after its exit code: `usage` is USAGE, `notInOrder` NOT_IN_ORDER. */
function codeOf(exitCode: ExitCode): string {
  const [name = 'failed'] = Object.entries(exitCodes).find(([, code]) => code === exitCode) ?? [];
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function explainProblem(error: ApiProblem, hint: Hint, list: string | null): Explanation {
  const fields = (error.problem.errors ?? []).map((each) => `\n  ${each.pointer || '/'} ${each.detail}`).join('');
  return { code: error.code, message: `${error.message}${fields}`, ...outcomeOf(error, hint, list) };
}

function outcomeOf(
  { status, code, problem }: ApiProblem,
  hint: Hint,
  list: string | null,
): Pick<Explanation, 'exitCode' | 'next'> {
  const { key, failed, unreachable } = exitCodes;
  switch (status) {
    case 401:
      return {
        exitCode: key,
        next: 'The key was not accepted. Pass --key KEY, set DORMOUSE_KEY, or name the data directory with --data DIR.',
      };
    case 403:
      return code === 'TENANT_SUSPENDED'
        ? { exitCode: key, next: `With the platform key: ${hint('tenants resume TENANT')}` }
        : { exitCode: key, next: 'This key may not do that; use one with more scopes.' };
    case 404:
      return list === null
        ? {
            exitCode: failed,
            next: `What there is: ${hint('threads')}; in place of threads: agents, tools, or choices THREAD.`,
          }
        : { exitCode: failed, next: `What there is: ${hint(list)}` };
    case 503:
      return { exitCode: unreachable, next: 'It is busy or still starting; try again in a moment.' };
    default:
      return { exitCode: failed, next: problem.type.startsWith('http') ? `More about it: ${problem.type}` : null };
  }
}

export function report(
  terminal: Terminal,
  json: boolean,
  error: unknown,
  hint: Hint,
  list: string | null = null,
): ExitCode {
  const { exitCode, code, message, next } = explain(error, hint, list);
  if (json) terminal.err(cleanJson({ error: { code, message, next, exit_code: exitCode } }));
  else terminal.err(cleanText(next === null ? `dormouse: ${message}` : `dormouse: ${message}\n${next}`));
  return exitCode;
}
