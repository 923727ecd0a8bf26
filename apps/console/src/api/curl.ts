// The command line that does what a button or a page did: the key is a variable of the shell, never a value.
export function curlOf(method: string, path: string, body?: unknown): string {
  const parts = ['curl -sS'];
  if (method !== 'GET') parts.push(`-X ${method}`);
  parts.push(`-H "Authorization: Bearer $DORMOUSE_KEY"`);
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  parts.push(quoted(globalThis.location.origin + path));
  return parts.join(' ');
}

/** One word for a POSIX shell, whatever it contains. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
