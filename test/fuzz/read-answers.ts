// HTTP answers out of the bytes of a connection, one after the other.

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; of several values the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** False while its body is still coming. */
  readonly isWhole: boolean;
  /** True where no end of the body is to be waited for. */
  readonly isStream: boolean;
}

const headEnd = Buffer.from('\r\n\r\n');

/** `isClosed`: nothing follows, so a body without a length is whole. Interim answers (1xx) are skipped. */
export function readAnswers(
  bytes: Buffer,
  methods: readonly string[],
  isClosed: boolean,
): { readonly answers: readonly RawAnswer[]; readonly rest: Buffer } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf(headEnd);
    if (end < 0) return { answers, rest };
    const lines = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(lines[0] ?? '')?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) return { answers, rest };
    const behind = rest.subarray(end + headEnd.length);
    if (status < 200) {
      rest = behind;
      continue;
    }
    const headers = headersOf(lines.slice(1));
    const isEmpty = methods[answers.length] === 'HEAD' || status === 204 || status === 304;
    const body = isEmpty ? { content: behind.subarray(0, 0), length: 0 } : bodyOf(headers, behind, isClosed);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    answers.push({ status, headers, body: body.content, isWhole: body.length !== null, isStream });
    if (body.length === null) return { answers, rest: behind.subarray(behind.length) };
    rest = behind.subarray(body.length);
  }
}

const headersOf = (lines: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );

/** `length` on the wire; null while it is not whole. */
interface Body {
  readonly content: Buffer;
  readonly length: number | null;
}

function bodyOf(headers: ReadonlyMap<string, string>, bytes: Buffer, isClosed: boolean): Body {
  if (headers.get('transfer-encoding')?.includes('chunked') === true) return chunkedBody(bytes);
  const length = headers.get('content-length');
  if (length === undefined) return { content: bytes, length: isClosed ? bytes.length : null };
  return { content: bytes.subarray(0, Number(length)), length: bytes.length < Number(length) ? null : Number(length) };
}

function chunkedBody(bytes: Buffer): Body {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return { content: Buffer.concat(parts), length: null };
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const from = line + 2;
    if (!(size > 0)) {
      const end = bytes.indexOf('\r\n', from); // no trailers are sent
      return { content: Buffer.concat(parts), length: end < 0 ? null : end + 2 };
    }
    parts.push(bytes.subarray(from, from + size));
    if (bytes.length < from + size + 2) return { content: Buffer.concat(parts), length: null };
    at = from + size + 2;
  }
}
