// Reads the file of a thread from the runtime: its commits, those that its history begins with, and the payloads of
// all.
import { ask, type Client, everyItem } from './client.ts';
import { namedBlobs, originOf } from './commit-content.ts';
import type { BlobLine, ExportLine } from './export-file.ts';
import type { Commit } from './verify-chain.ts';

/** The lines of a thread's file, as they come from the runtime. */
export async function* exportThread(client: Client, thread: string): AsyncGenerator<ExportLine, void, undefined> {
  const blobs = new Set<string>();
  let commits = 0;
  const lineage = await lineageOf(client, { thread, upTo: Number.POSITIVE_INFINITY });
  for (const { thread: id, upTo } of lineage) {
    for await (const commit of commitsOf(client, id)) {
      if (commit.version >= upTo) break;
      for (const blob of namedBlobs(commit)) {
        if (blobs.has(blob)) continue;
        blobs.add(blob);
        yield await fetchBlob(client, id, blob);
      }
      yield commit;
      commits += 1;
    }
  }
  yield { end: 1, threads: lineage.length, commits, blobs: blobs.size };
}

/** A thread's commits as they are stored. */
export const commitsOf = (client: Client, thread: string): AsyncGenerator<Commit, void, undefined> =>
  everyItem((cursor) =>
    ask(client.api.GET('/v1/threads/{id}/commits', { params: { path: { id: thread }, query: { cursor } } })),
  );

interface Generation {
  readonly thread: string;
  /** Events after this position belong to the other thread alone. */
  readonly upTo: number;
}

/** The threads before it, the oldest first, and the thread itself; none when it has no commits yet. */
async function lineageOf(client: Client, newest: Generation): Promise<readonly Generation[]> {
  const first = await commitsOf(client, newest.thread).next();
  if (first.done === true) return [];
  const from = originOf(first.value);
  if (from === null || from === 'unclear') return [newest]; // unclear: reading the file reports it
  return [...(await lineageOf(client, { thread: from.threadId, upTo: from.position })), newest];
}

async function fetchBlob(client: Client, thread: string, sha256: string): Promise<BlobLine> {
  const params = { path: { id: thread, sha256 } };
  let mediaType = 'application/octet-stream';
  const answer = client.api.GET('/v1/threads/{id}/blobs/{sha256}', { params, parseAs: 'arrayBuffer' });
  const bytes = (await ask(
    answer.then((given) => {
      mediaType = given.response.headers.get('content-type') ?? mediaType;
      return given;
    }),
  )) as unknown as ArrayBuffer; // requested as bytes
  return { blob: sha256, media_type: mediaType, data: base64Of(new Uint8Array(bytes)) };
}

/** In slices that fit on a stack. */
function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 32_768)
    text += String.fromCharCode(...bytes.subarray(start, start + 32_768));
  return btoa(text);
}
