// The file of an exported thread: NDJSON, each line a commit, a payload that later commits refer to, or the end.
//
// The commits are exactly as they are stored, thread by thread: a fork or a child comes after the thread that its
// history begins in, of which the file has the commits up to there. The exported thread comes last. The last line
// counts the contents of the file.
//
// Invariants:
//   X1. The file is complete: each payload stands before the first commit that refers to it, each origin before the
//       thread that continues it.
//   X2. A file that was cut off, or put together from others, is detected: the end counts, each chain holds
//       (verify-chain H1), each payload has the hash that it states.
import { namedBlobs, originOf } from './commit-content.ts';
import { hexDigest } from './hex-digest.ts';
import { type Commit, createChainCheck, type ChainCheck } from './verify-chain.ts';

export interface BlobLine {
  /** SHA-256 of the bytes. */
  readonly blob: string;
  readonly media_type: string;
  /** Base64. */
  readonly data: string;
}

export interface EndLine {
  /** Version of the format. */
  readonly end: 1;
  readonly threads: number;
  readonly commits: number;
  readonly blobs: number;
}

export type ExportLine = Commit | BlobLine | EndLine;

export interface ExportedThread {
  readonly thread: string;
  readonly commits: number;
  readonly events: number;
  readonly head: string;
}

export type ExportVerdict =
  | {
      readonly ok: true;
      /** The oldest first; the exported thread is the last one. */
      readonly threads: readonly ExportedThread[];
      readonly commits: number;
      readonly events: number;
      readonly blobs: number;
      readonly head: string;
    }
  /** `line` counts from 1. */
  | { readonly ok: false; readonly line: number; readonly reason: string };

/** Longest payload in a file, as base64: a payload that arrived in one request fits into one request again. */
export const blobCharactersMax = 8 * 1024 * 1024;

/** The content of a line, or null when it is none of the three. */
export function parseExportLine(text: string): ExportLine | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return null;
    if ('blob' in value) return isBlobLine(value) ? value : null;
    if ('end' in value) return isEndLine(value) ? value : null;
    return isCommit(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Checks a whole file; empty lines are ignored. */
export async function verifyExport(lines: AsyncIterable<string> | Iterable<string>): Promise<ExportVerdict> {
  const check = createExportCheck();
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const line = parseExportLine(text);
    const reason = line === null ? 'is neither a commit, nor a payload, nor the end' : await check.take(line);
    if (reason !== null) return { ok: false, line: number, reason };
  }
  return check.verdict(number);
}

interface ExportCheck {
  /** The problem of the next line, or null. */
  take(line: ExportLine): Promise<string | null>;
  verdict(lines: number): ExportVerdict;
}

function createExportCheck(): ExportCheck {
  const threads: { readonly name: string; readonly thread: string; readonly chain: ChainCheck }[] = [];
  const blobs = new Set<string>();
  let isEnded = false;

  async function takeCommit(commit: Commit): Promise<string | null> {
    const name = JSON.stringify([commit.tenant, commit.thread]);
    const before = threads.at(-1);
    if (commit.version === 0 && before?.name !== name) {
      if (threads.some((thread) => thread.name === name)) return 'begins a thread that is in the file already';
      threads.push({ name, thread: commit.thread, chain: createChainCheck() });
      const reason = (await threads.at(-1)?.chain.take(commit)) ?? originComplaint(commit, before);
      if (reason !== null) return reason;
    } else {
      const reason = await (before?.chain ?? createChainCheck()).take(commit);
      if (reason !== null) return reason;
    }
    for (const blob of namedBlobs(commit))
      if (!blobs.has(blob)) return `refers to the payload ${blob}, which is not in the file before it`;
    return null;
  }

  const sums = (): Omit<EndLine, 'end'> => ({
    threads: threads.length,
    commits: threads.reduce((sum, { chain }) => sum + chain.commits, 0),
    blobs: blobs.size,
  });

  return {
    async take(line) {
      if (isEnded) return 'comes after the end';
      if ('blob' in line) {
        const reason = await blobComplaint(line);
        blobs.add(line.blob);
        return reason;
      }
      if (!('end' in line)) return takeCommit(line);
      isEnded = true;
      const { commits, blobs: payloads, threads: named } = sums();
      const holds = line.commits === commits && line.blobs === payloads && line.threads === named;
      if (!holds)
        return `counts ${line.commits} commits and ${line.blobs} payloads; there are ${commits} and ${payloads}`;
      return commits === 0 ? 'is the end of a file without commits' : null;
    },
    verdict(lines) {
      if (!isEnded)
        return { ok: false, line: lines, reason: 'is the last line, but not the end: the file was cut off' };
      const exported = threads.map(({ thread, chain: { commits, events, head } }) => ({
        thread,
        commits,
        events,
        head,
      }));
      const events = exported.reduce((sum, one) => sum + one.events, 0);
      const head = exported.at(-1)?.head ?? '';
      return { ok: true, threads: exported, commits: sums().commits, events, blobs: blobs.size, head };
    },
  };
}

/** Whether a first commit continues the thread before it in the file. (X1) */
function originComplaint(
  commit: Commit,
  before: { readonly thread: string; readonly chain: ChainCheck } | undefined,
): string | null {
  const from = originOf(commit);
  if (from === 'unclear') return 'does not say where its history begins';
  if (from === null)
    return before === undefined ? null : 'belongs to another thread, which does not go on from the one before';
  if (before?.thread !== from.threadId)
    return `has a history that begins in ${from.threadId}, which is not in the file before it`;
  return before.chain.events < from.position
    ? `goes on after event ${from.position} of a thread that ends before`
    : null;
}

async function blobComplaint({ blob, data }: BlobLine): Promise<string | null> {
  if (data.length > blobCharactersMax) return `is a payload of more than ${blobCharactersMax} characters`;
  const bytes = bytesOf(data);
  if (bytes === null) return 'is a payload that is not base64';
  return (await hexDigest(bytes)) === blob ? null : 'was changed: the hash of the payload does not fit its contents';
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

type Fields = Readonly<Record<string, unknown>>;

const hold = (value: Fields, names: readonly string[], check: (field: unknown) => boolean): boolean =>
  names.every((name) => check(value[name]));
const isText = (field: unknown): field is string => typeof field === 'string';
const isTextOrNull = (field: unknown): boolean => field === null || isText(field);

function isCommit(value: Fields): value is Fields & Commit {
  const { inputs } = value;
  return (
    hold(value, ['tenant', 'thread', 'nonce', 'prev', 'hash', 'body'], isText) &&
    hold(value, ['trace', 'kid'], isTextOrNull) &&
    hold(value, ['v', 'version', 'count', 'at'], Number.isSafeInteger) &&
    Array.isArray(inputs) &&
    inputs.every(isText)
  );
}

const isBlobLine = (value: Fields): value is Fields & BlobLine => hold(value, ['blob', 'media_type', 'data'], isText);

const isEndLine = (value: Fields): value is Fields & EndLine =>
  value['end'] === 1 && hold(value, ['threads', 'commits', 'blobs'], Number.isSafeInteger);

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return null;
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
