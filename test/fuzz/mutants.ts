// Ways in which a server is broken on purpose, and what the fuzzer has to say of each.

export interface Mutant {
  /** Whose dist/index.js has it. */
  readonly library: 'host' | 'runtime';
  readonly whole: string;
  readonly broken: string;
  readonly found: RegExp;
}

export const mutants: Readonly<Record<string, Mutant>> = {
  'a body that is no JSON is our own failure': {
    library: 'host',
    whole: 'yield* checkingJson(decode(bytes))',
    broken: '{ ok: true, value: JSON.parse(decode(bytes)) }',
    found: /^answered 500/m,
  },
  'a callback that is no JSON is our own failure': {
    library: 'runtime',
    whole: 'const read = yield* readingCallback(text);',
    broken: 'JSON.parse(text); const read = yield* readingCallback(text);',
    found: /^answered 500/m,
  },
  'a thread token opens every thread of its tenant': {
    library: 'host',
    whole: '!await tokens.opens(only, thread)',
    broken: 'false',
    found: /what is not the caller's was answered 20|changed without a turn of its own/,
  },
  'a path is written into the log as it came': {
    library: 'host',
    whole: 'logger.info("request", {',
    broken: "if (reply.statusCode === 404) console.error(request.url); logger.info('request', {",
    found: /no JSON object/,
  },
  'a body that is no UTF-8 ends the process': {
    library: 'host',
    whole: 'throw new HttpProblem("INVALID_JSON", "The body is not valid UTF-8.", { cause });',
    broken: "setTimeout(() => { throw cause; }); throw new HttpProblem('INVALID_JSON', 'Not UTF-8.', { cause });",
    found: /ended|does not go on|closed after|ECONNREFUSED|no JSON object/,
  },
};
