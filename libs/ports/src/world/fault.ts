// A fault: something outside is broken, and the caller may retry. A refusal is a value, never a fault.
export class Fault extends Error {
  override readonly name = 'Fault';
  /** A code with a page in docs/errors. */
  readonly code: string;
  readonly retryAfterMs: number | null;

  constructor(
    code: string,
    detail: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
