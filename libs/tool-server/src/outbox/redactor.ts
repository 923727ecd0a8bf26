/**
 * Owns: what is redacted: URLs beyond their host in logs, and known secrets in anything that leaves. T22 T32 T42
 *
 * X1. A log line shows no path and no query of a URL, no control character, and nothing that was declared a secret.
 *     The lines of a record are log lines; those after the first are indented, so that none looks like a record.
 * X2. A text for the runtime shows nothing that was declared a secret; URLs in it are content and stay.
 */
const secretsMax = 64;
const secretCharactersMin = 8;
const placeholder = '[redacted]';

export interface Redactor {
  /** From now on this text is replaced wherever it appears. Short ones are ignored: they occur in every text. */
  readonly protect: (secret: string) => void;
  /** (X2) */
  readonly clean: (text: string) => string;
  /** (X1) */
  readonly line: (text: string) => string;
  /** A log line, and an error's stack below it. (X1) */
  readonly record: (text: string) => string;
}

/** `outer` is applied as well: a call has its own secrets, those of the server apply to every call. */
export function createRedactor(outer?: Redactor): Redactor {
  const secrets = new Set<string>();
  const clean = (text: string): string => {
    let cleaned = outer?.clean(text) ?? text;
    for (const secret of secrets) if (cleaned.includes(secret)) cleaned = cleaned.replaceAll(secret, placeholder);
    return cleaned;
  };
  return {
    protect(secret) {
      if (secret.length < secretCharactersMin || secrets.has(secret)) return;
      const [oldest] = secrets;
      if (secrets.size >= secretsMax && oldest !== undefined) secrets.delete(oldest);
      secrets.add(secret);
    },
    clean,
    line: (text) => masked(clean(text)),
    record: (text) =>
      clean(text)
        .split('\n')
        .map((line, index) => (index === 0 ? masked(line) : `    ${masked(line.trimStart())}`))
        .join('\n'),
  };
}

/** (X1) */
function masked(text: string): string {
  return text
    .replaceAll(/(https?:\/\/)(?:[^\s/?#"'@]*@)?([^\s/?#"']+)[^\s"']*/gi, '$1$2/…')
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${placeholder}`)
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}
