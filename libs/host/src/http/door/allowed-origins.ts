// Which pages of other origins may use the API: the list DORMOUSE_ALLOWED_ORIGINS.
//
// Invariants:
//   O1. An entry is an origin, `https://app.example.com`, or stands for all hosts below one, `https://*.example.com`;
//       that host itself is not among them. Scheme and port are always compared.
//   O2. There is no entry for every origin.

export interface AllowedOrigins {
  /** Whether a header `Origin` of this value is listed. */
  allows(origin: string): boolean;
  /** The entries as they were set: the console shows them. */
  readonly listed: readonly string[];
}

export const allowedOriginsSetting = 'DORMOUSE_ALLOWED_ORIGINS';

/** CORS is off until origins are listed. */
export const noOrigins: AllowedOrigins = { allows: () => false, listed: [] };

export interface OriginsReading {
  readonly origins: AllowedOrigins;
  /** One sentence for each entry that cannot be used. */
  readonly problems: readonly string[];
}

/** Reads the comma-separated list. */
export function parseAllowedOrigins(text: string): OriginsReading {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const whole = new Set<string>();
  const below: Below[] = [];
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry);
    if (read === null) problems.push(`entry ${index + 1} ${notAnOrigin}`);
    else if (typeof read === 'string') whole.add(read);
    else below.push(read);
  }
  const isBelow = (origin: string): boolean => {
    const parts = partsOf(origin);
    return parts !== null && below.some((each) => each.frame === parts.frame && parts.host.endsWith(each.suffix));
  };
  return { origins: { allows: (origin) => whole.has(origin) || isBelow(origin), listed: entries }, problems };
}

const notAnOrigin = 'is no origin, such as https://app.example.com or https://*.example.com';

/** All hosts that end in `suffix`, which begins with a dot; `frame` is the rest of the origin. */
interface Below {
  readonly frame: string;
  readonly suffix: string;
}

/** The origin as browsers write it, or a wildcard, or null. (O1, O2) */
function readEntry(entry: string): string | Below | null {
  const wild = /^(https?:\/\/)\*\.([^*]+)$/i.exec(entry);
  if (wild === null) return originOf(entry);
  const origin = originOf(`${wild[1]}${wild[2]}`);
  const parts = origin === null ? null : partsOf(origin);
  return parts === null || !parts.host.includes('.') ? null : { frame: parts.frame, suffix: `.${parts.host}` };
}

/** Null for anything that is more or less than an origin. */
function originOf(text: string): string | null {
  if (text.includes('*') || !URL.canParse(text)) return null;
  const { protocol, origin, username, password, pathname, search, hash } = new URL(text);
  const isBare = username + password + search + hash === '' && pathname === '/' && !/[?#]/.test(text);
  return isBare && /^https?:$/.test(protocol) ? origin : null;
}

/** The host of an origin, and everything else of it. */
function partsOf(origin: string): { readonly host: string; readonly frame: string } | null {
  if (originOf(origin) !== origin) return null;
  const { protocol, hostname, port } = new URL(origin);
  return { host: hostname, frame: `${protocol} ${port}` };
}
