// The failures of a request, as errors that a program can distinguish: the API refused, or there was no answer.
import type { components } from './generated/openapi.ts';

/** The body of an `application/problem+json` answer. */
export type Problem = components['schemas']['Problem'];

/** The API refused. `code` has a page at `/errors/{code}` of the same server. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.detail === undefined ? problem.title : `${problem.title}: ${problem.detail}`);
    this.status = status;
    this.code = problem.code;
    this.problem = problem;
  }
}

/** There was no answer, or not one of this API. */
export class ConnectionProblem extends Error {
  override readonly name = 'ConnectionProblem';
  readonly baseUrl: string;

  constructor(baseUrl: string, detail: string, cause?: unknown) {
    super(`${baseUrl} ${detail}`, cause === undefined ? undefined : { cause });
    this.baseUrl = baseUrl;
  }
}

/** The problem of an answer that is not 2xx; a proxy's page, or an empty body, becomes a problem of its own. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text();
  return new ApiProblem(response.status, parseProblem(text) ?? unnamedProblem(response));
}

function parseProblem(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null; // a page of some proxy
    throw error;
  }
}

export function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'title' in value &&
    typeof value.title === 'string'
  );
}

/** For an answer that no server of this API gave. */
export function unnamedProblem(response: Response): Problem {
  const title = response.statusText || 'no reason given';
  return {
    type: 'about:blank',
    title,
    status: response.status,
    detail: 'the answer is not in words of this API',
    instance: '',
    code: `HTTP_${response.status}`,
  };
}
