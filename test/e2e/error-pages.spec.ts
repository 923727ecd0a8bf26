// Three lists that must be equal: the codes the source can give, the registry, and the pages (in docs/errors and
// served). DORMOUSE_TEST_WRITE=1 writes the pages again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeEntry, errorPage, isProblemCode, problemCodes, type ProblemCode } from '@dormouse/host';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, startStandalone } from './standalone-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = join(root, 'docs', 'errors');
const codes = Object.keys(problemCodes).filter(isProblemCode);

afterAll(cleanUp);

/** Words in capitals that are no codes of ours: of the system, of a decision that is never shown, of logs. */
const otherWords = new Set([
  'ALREADY_OPEN',
  'NOT_OPEN',
  'NOT_PENDING',
  'NO_TIMER',
  'NOT_AT_REST',
  'NOT_LOADING',
  'NOT_MIGRATING',
  'NOT_SUBSCRIBED',
  'NOT_THE_PARENT',
  'SLICE_THREW',
  'TOO_LARGE',
  // of the system
  'EAI_AGAIN',
  // of AG-UI, events of its streams
  'REASONING_END',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'REASONING_MESSAGE_START',
  'REASONING_START',
  'RUN_ERROR',
  'RUN_FINISHED',
  'RUN_STARTED',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'TEXT_MESSAGE_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'TOOL_CALL_START',
  // of OpenSSL
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  // of Kafka's protocol
  'SASL_AUTHENTICATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'FENCED_LEADER_EPOCH',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'INVALID_REPLICATION_FACTOR',
  'NOT_COORDINATOR_FOR_GROUP',
  'TOPIC_ALREADY_EXISTS',
]);

const notOurs = (word: string): boolean =>
  otherWords.has(word) ||
  /^(FST_ERR|UND_ERR|SQLITE|DORMOUSE|ERR|KAFKA|OTEL)_/.test(word) ||
  /_(MS|DIR|URL|KEY|PORT|TOOLS|LEVEL|ALLOW|BROKERS|PREFIX)$/.test(word);

function* sources(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (!['node_modules', 'dist', 'spec', 'contracts', 'testing'].includes(entry.name)) yield* sources(path);
    } else if (
      entry.name.endsWith('.ts') &&
      !/\.(spec|contract)\.ts$/.test(entry.name) &&
      entry.name !== 'problem-codes.ts'
    ) {
      yield readFileSync(path, 'utf8');
    }
  }
}

/** Codes as the source gives them: `code: 'X'`, `new Fault('X'`, an argument, a member of a union. */
function codesInSource(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const text of sources(join(root, 'libs'))) {
    const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    for (const [, word = ''] of code.matchAll(/['`]([A-Z]+_[A-Z_]+)(?:'|: )/g)) if (!notOurs(word)) found.add(word);
  }
  return found;
}

describe('error codes', () => {
  it('that the source can give all have an entry', () => {
    const missing = [...codesInSource()].filter((code) => !isProblemCode(code));
    expect(missing).toEqual([]);
  });

  it('have a page each, and no page is left over', () => {
    if (process.env['DORMOUSE_TEST_WRITE'] === '1') {
      for (const code of codes) writeFileSync(join(pages, `${code}.md`), errorPage(code));
      writeFileSync(join(pages, 'README.md'), indexPage());
    }
    const files = readdirSync(pages).filter((file) => file !== 'README.md');
    expect(files.toSorted()).toEqual(codes.map((code) => `${code}.md`).toSorted());
    for (const code of codes) expect(readFileSync(join(pages, `${code}.md`), 'utf8')).toBe(errorPage(code));
    expect(readFileSync(join(pages, 'README.md'), 'utf8')).toBe(indexPage());
  });

  it('are served as they are written, to anybody', async () => {
    const at = await startStandalone();
    for (const code of codes) {
      const page = await at.request('GET', `/errors/${code}`, undefined, { key: null });
      expect(page.text).toBe(errorPage(code));
    }
    expect((await at.request('GET', '/errors/NO_SUCH_CODE', undefined, { key: null })).status).toBe(404);
  });
});

function indexPage(): string {
  const line = (code: ProblemCode): string => {
    const { status, title } = codeEntry(code);
    return `- [${code}](${code}.md): ${title.toLowerCase()}${status === null ? '' : ` (${status})`}`;
  };
  return `# Error codes\n\nA page for each code; the same pages are served under \`/errors/{CODE}\`.\n\n${codes.toSorted().map(line).join('\n')}\n`;
}
