// Some files of a zip archive, with their modes. Node has no reader of zip, and a fresh machine may have no `unzip`.
// Archives with more than 65 535 entries or 4 GiB are not read.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const endOfDirectory = 0x06_05_4b_50;
const directoryEntry = 0x02_01_4b_50;
const stored = 0;
const deflated = 8;

/** @throws Error when it is no zip archive, or an entry is packed in another way. */
export function unzip(archive: string, into: string, wanted: RegExp): void {
  const bytes = readFileSync(archive);
  let at = bytes.length - 22;
  while (at >= 0 && bytes.readUInt32LE(at) !== endOfDirectory) at -= 1;
  if (at < 0) throw new Error(`${archive} is no zip archive`);
  const entries = bytes.readUInt16LE(at + 10);
  let entry = bytes.readUInt32LE(at + 16);
  for (let nth = 0; nth < entries; nth += 1) {
    if (bytes.readUInt32LE(entry) !== directoryEntry) throw new Error(`${archive} has a damaged directory`);
    const nameLength = bytes.readUInt16LE(entry + 28);
    const name = bytes.toString('utf8', entry + 46, entry + 46 + nameLength);
    if (wanted.test(name)) extract(bytes, entry, join(into, name));
    entry += 46 + nameLength + bytes.readUInt16LE(entry + 30) + bytes.readUInt16LE(entry + 32);
  }
}

function extract(bytes: Buffer, entry: number, path: string): void {
  const method = bytes.readUInt16LE(entry + 10);
  const packed = bytes.readUInt32LE(entry + 20);
  const mode = bytes.readUInt32LE(entry + 38) >>> 16;
  const header = bytes.readUInt32LE(entry + 42);
  const from = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
  if (method !== stored && method !== deflated) throw new Error(`${path} is packed with method ${method}`);
  const content = bytes.subarray(from, from + packed);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, method === stored ? content : inflateRawSync(content), { mode: mode & 0o777 || 0o644 });
}
