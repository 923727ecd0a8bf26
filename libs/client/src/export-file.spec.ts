import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ExportLine, verifyExport } from './export-file.ts';
import type { Commit } from './verify-chain.ts';

const digest = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** One commit per list of events. */
function log(thread: string, ...slices: readonly (readonly object[])[]): Commit[] {
  const made: Commit[] = [];
  let version = 0;
  for (const [index, events] of slices.entries()) {
    const count = events.length;
    const fields = { tenant: 'acme', thread, version, count, inputs: [`c:${index}`], at: 1_000 + index };
    const rest = { nonce: `n${index}`, trace: null, kid: null, prev: made.at(-1)?.hash ?? '' };
    made.push(sealed({ v: 1, ...fields, ...rest, hash: '', body: JSON.stringify({ events, effects: [] }) }));
    version += count;
  }
  return made;
}

function sealed(commit: Commit): Commit {
  const { prev, tenant, thread, version, count, inputs, at, nonce, trace, kid, body } = commit;
  const fields = JSON.stringify([prev, tenant, thread, version, count, inputs, at, nonce, trace, kid]);
  return { ...commit, hash: digest(`${fields}\n${body}`) };
}

const picture = Buffer.from('a picture');
const blob = { blob: digest(picture), media_type: 'image/png', data: picture.toString('base64') };
const shown = {
  type: 'MessageAccepted',
  content: [{ type: 'image', mediaType: 'image/png', blob: blob.blob, bytes: 9 }],
};
const opened = { type: 'ThreadOpened' };
const said = { type: 'MessageAccepted', content: [{ type: 'text', text: 'Zürich ✓' }] };
const forkedAt = (position: number, threadId = 'thr_1'): object => ({
  type: 'ThreadForked',
  from: { threadId, position },
});
const end = (threads: number, commits: number, blobs: number) => ({ end: 1, threads, commits, blobs }) as const;

const origin = log('thr_1', [opened], [said, said], [shown]);
const fork = (from = forkedAt(3)): Commit[] => log('thr_2', [opened, from], [said]);
const [first, second, third] = origin as [Commit, Commit, Commit];

const verdictOf = (lines: readonly (ExportLine | string)[]) =>
  verifyExport(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))));
const reasonOf = async (lines: readonly (ExportLine | string)[]): Promise<string> => {
  const verdict = await verdictOf(lines);
  return verdict.ok ? 'ok' : `${verdict.line}: ${verdict.reason}`;
};

describe('X2 the file of a thread', () => {
  it('is whole with its payloads, its origin and its end', async () => {
    const lines = [first, second, '', blob, third, ...fork(), end(2, 5, 1), ''];
    expect(await verdictOf(lines)).toMatchObject({
      ...{ ok: true, commits: 5, events: 7, blobs: 1, head: fork().at(-1)?.hash },
      threads: [
        { thread: 'thr_1', commits: 3, events: 4, head: third.hash },
        { thread: 'thr_2', commits: 2, events: 3 },
      ],
    });
  });

  it('was cut off when the end is missing, or counts more', async () => {
    expect(await reasonOf([first, second])).toMatch(/^2: .*the file was cut off/);
    expect(await reasonOf([])).toMatch(/^0: .*the file was cut off/);
    expect(await reasonOf([first, end(1, 2, 0)])).toBe('2: counts 2 commits and 0 payloads; there are 1 and 0');
    expect(await reasonOf([first, end(2, 1, 0)])).toMatch(/^2: counts/);
    expect(await reasonOf([end(0, 0, 0)])).toBe('1: is the end of a file without commits');
    expect(await reasonOf([first, end(1, 1, 0), second])).toBe('3: comes after the end');
  });

  it('names the line that is broken', async () => {
    expect(await reasonOf([first, '{"hash":'])).toBe('2: is neither a commit, nor a payload, nor the end');
    expect(await reasonOf([first, '', { ...second, nonce: 'x' }])).toMatch(/^3: was changed/);
    expect(await reasonOf([second])).toMatch(/^1: begins at version 1, expected 0/);
    expect(await reasonOf([first, first])).toMatch(/^2: begins at version 0, expected 1/);
  });

  it('has each payload before the commit that refers to it, and as it was', async () => {
    expect(await reasonOf([first, second, third])).toMatch(/^3: refers to the payload [0-9a-f]{64}, which is not/);
    const other = { ...blob, data: Buffer.from('another').toString('base64') };
    expect(await reasonOf([other])).toBe('1: was changed: the hash of the payload does not fit its contents');
    expect(await reasonOf([{ ...blob, data: '*' }])).toBe('1: is a payload that is not base64');
    expect(await reasonOf([{ ...blob, data: 'A'.repeat(8 * 1024 * 1024 + 4) }])).toMatch(
      /^1: is a payload of more than/,
    );
    const call = { type: 'ToolCallRequested', arguments: { image: shown.content[0] } };
    expect(await reasonOf([...log('thr_1', [opened], [call]), end(1, 2, 0)])).toBe('ok');
  });

  it('X1 has the origin of a fork or a child right before it, as far as it goes on from', async () => {
    expect(await reasonOf(fork())).toMatch(/^1: has a history that begins in thr_1, which is not in the file/);
    expect(await reasonOf([first, ...fork()])).toMatch(/^2: goes on after event 3 of a thread that ends before/);
    expect(await reasonOf([first, second, ...fork(forkedAt(3, 'thr_3'))])).toMatch(
      /^3: has a history that begins in thr_3/,
    );
    const child = log('thr_2', [{ ...opened, parent: { threadId: 'thr_1', position: 3 } }]);
    expect(await reasonOf([first, second, ...child, end(2, 3, 0)])).toBe('ok');
    expect(await reasonOf(child)).toMatch(/^1: has a history/);
  });

  it('holds no thread that has nothing to do with the others, and none twice', async () => {
    expect(await reasonOf([first, ...log('thr_2', [opened])])).toMatch(/^2: belongs to another thread/);
    expect(await reasonOf([first, second, ...fork(), first])).toBe('5: begins a thread that is in the file already');
  });

  it('has nothing in it that a reader could stumble over, whoever wrote it', async () => {
    const bare = (body: string): Commit => sealed({ ...first, body });
    const deep = `{"events":[${'['.repeat(20_000)}{"blob":7}${']'.repeat(20_000)}]}`;
    expect(await reasonOf([bare('null')])).toBe('1: says it has 1 events, its body has none that can be read');
    expect(await reasonOf([bare('{"events":[null]}')])).toBe(
      '1: says it has 1 events, its body has none that can be read',
    );
    expect(await reasonOf([bare(deep), end(1, 1, 0)])).toBe('ok');
    const nowhere = log('thr_2', [{ ...opened, parent: 7 }]);
    expect(await reasonOf([first, ...nowhere])).toBe('2: does not say where its history begins');
    const before = log('thr_2', [{ ...opened, parent: { threadId: 'thr_1', position: 0 } }]);
    expect(await reasonOf([first, ...before])).toBe('2: does not say where its history begins');
    for (const strange of [
      { at: '1' },
      { tenant: 7 },
      { kid: undefined },
      { inputs: [7] },
      { count: 1.5 },
      { blob: 'x' },
    ]) {
      const line = JSON.stringify(sealed({ ...first, ...strange } as unknown as Commit));
      expect(await reasonOf([line, end(1, 1, 0)])).toBe('1: is neither a commit, nor a payload, nor the end');
    }
  });
});
