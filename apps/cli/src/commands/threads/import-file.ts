// Sends the file of an exported thread, once all of it has been checked: payloads one by one, commits in parts.
//
// Invariants:
//   F1. Nothing is sent of a file that is not complete; the runtime checks again what it receives.
//   F2. A part holds commits of one thread and is bounded, so that a file of any length is sent in bounded memory.
//   F3. A refusal names the line.
import {
  ApiProblem,
  ask,
  type BlobLine,
  type Client,
  type Commit,
  type ExportVerdict,
  parseExportLine,
  verifyExport,
} from '@dormouse/client';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { linesOf } from '../../file-lines.ts';

const partCharactersMax = 2_000_000;
const partCommitsMax = 500;

export interface Imported {
  readonly thread: string;
  readonly position: number;
}

type WholeFile = Extract<ExportVerdict, { readonly ok: true }>;

/** @throws CliFailure when the file is not complete, or the runtime refuses it. (F1) */
export async function importFile(client: Client, file: string, onSent: (words: string) => void): Promise<Imported> {
  const verdict = await verifyFile(file);
  let imported: Imported | null = null;
  let sent = 0;
  for await (const item of itemsOf(file, verdict)) {
    imported = (await atLine(file, item, () => send(client, item))) ?? imported;
    if (!('commits' in item)) continue;
    sent += item.commits.length;
    onSent(`${sent} of ${verdict.commits} commits`);
  }
  if (imported !== null) return imported;
  throw new CliFailure(exitCodes.notInOrder, `${file} has changed while it was read.`, 'Nothing was imported.');
}

async function verifyFile(file: string): Promise<WholeFile> {
  const verdict = await verifyExport(linesOf(file));
  if (verdict.ok) return verdict;
  throw new CliFailure(
    exitCodes.notInOrder,
    `${file} is broken at line ${verdict.line}: it ${verdict.reason}.`,
    'Nothing was imported.',
  );
}

interface Part {
  readonly of: string;
  readonly origin: string | null;
  readonly commits: Commit[];
  /** Line of each commit. */
  readonly lines: number[];
  last: boolean;
}

type Item = Part | { readonly blob: BlobLine; readonly line: number };

/** Payloads and parts in the order of the file. (F2) */
async function* itemsOf(file: string, { threads }: WholeFile): AsyncGenerator<Item, void, undefined> {
  let part: Part | null = null;
  let characters = 0;
  let index = -1;
  let line = 0;
  for await (const text of linesOf(file)) {
    line += 1;
    const parsed = text.trim() === '' ? null : parseExportLine(text);
    if (parsed === null) continue;
    if ('end' in parsed) {
      if (part !== null) yield { ...part, last: true };
    } else if ('blob' in parsed) {
      yield { blob: parsed, line };
    } else {
      const begins = parsed.version === 0;
      const size = parsed.body.length;
      if (
        part !== null &&
        (begins || part.commits.length === partCommitsMax || characters + size > partCharactersMax)
      ) {
        yield part;
        part = null;
      }
      if (begins) index += 1;
      if (part === null) characters = 0;
      part ??= { ...placeOf(threads, index), commits: [], lines: [], last: false };
      part.commits.push(parsed);
      part.lines.push(line);
      characters += size;
    }
  }
}

const placeOf = (threads: WholeFile['threads'], index: number): Pick<Part, 'of' | 'origin'> => ({
  of: threads[index]?.head ?? '',
  origin: threads[index - 1]?.head ?? null,
});

async function send(client: Client, item: Item): Promise<Imported | null> {
  if ('commits' in item) {
    const { of, origin, commits, last } = item;
    return ask(client.api.POST('/v1/imports', { body: { of, origin, commits, last } }));
  }
  const { blob: sha256, media_type, data } = item.blob;
  await ask(client.api.POST('/v1/imports/blobs', { body: { sha256, media_type, data } }));
  return null;
}

const refusals: ReadonlySet<string> = new Set(['INVALID_BODY', 'INVALID_JSON']);

/** (F3) */
async function atLine<T>(file: string, item: Item, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof ApiProblem) || !refusals.has(error.code)) throw error;
    const [{ pointer, detail } = { pointer: '', detail: error.message }] = error.problem.errors ?? [];
    const place = Number(/^\/commits\/(\d+)(?:\/|$)/.exec(pointer)?.[1] ?? 0);
    const line = 'commits' in item ? (item.lines[place] ?? 0) : item.line;
    throw new CliFailure(
      exitCodes.failed,
      `${file}, line ${line} was refused: it ${detail}.`,
      'Nobody sees a thread before all of its file is there. The same file may be sent again.',
    );
  }
}
