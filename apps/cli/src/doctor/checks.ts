// What can be seen of an installation from outside: over its API, its operations ports, and the address that tool
// servers call.
//
// Invariants:
//   C1. A check changes nothing, and waits ten seconds at most for each answer.
//   C2. A check that cannot be made says so, with what it lacks; it is never left out in silence.
import { toolVersion } from '../command-name.ts';
import type { Hint } from '../hint.ts';
import { fail, type Finding, ok, warn } from './finding.ts';
import { largest, samplesOf } from './metrics-text.ts';

export interface Installation {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** The operations port of each process, likewise. */
  readonly operations: readonly string[];
  /** What tool servers call; null where it is not known. */
  readonly callbacks: string | null;
  readonly hint: Hint;
}

const withinMs = 10_000;
const skewWarnMs = 5_000;
const skewFailMs = 60_000;
const lagMax = 1_000;
const unreleasedSecondsMax = 60;
const toolCallSecondsMax = 3_600;
const mib = 1_048_576;
const diskWarnBytes = 1_024 * mib;
const diskFailBytes = 100 * mib;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Of this machine, in the middle of the exchange. */
  readonly at: number;
}

/** An answer of any status, or why there is none. */
async function ask(url: string, init: RequestInit = {}): Promise<Answer | string> {
  const before = Date.now();
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(withinMs) });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, at: (before + Date.now()) / 2 };
  } catch (error) {
    const { name, message, cause } = error as Error;
    const { code } = (cause ?? {}) as { readonly code?: string };
    return code ?? (name === 'TimeoutError' ? `no answer in ${withinMs / 1_000} s` : message);
  }
}

/** The rest is not asked where nothing answers, or another program does. */
export async function examine(installation: Installation): Promise<readonly Finding[]> {
  const { url } = installation;
  const health = await ask(`${url}/healthz`);
  if (typeof health === 'string')
    return [fail('reachable', `nothing answers at ${url} (${health})`, 'Start it, or pass its address: --url URL')];
  const found = [ok('reachable', `${url} answers`), clockOf(health)];
  const version = await versionOf(url);
  if (version.level === 'fail') return [...found, version];
  found.push(version, await readyOf('ready', url), ...(await keyOf(installation)));
  found.push(await callbacksOf(installation), await parkedOf(installation));
  for (const port of installation.operations) found.push(await readyOf(`ready ${port}`, port));
  return [...found, ...(await metricsOf(installation))];
}

function clockOf({ headers, at }: Answer): Finding {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date))
    return warn('clock', 'the answer has no Date', 'A proxy removes it: compare the clocks by hand.');
  const skewMs = Math.max(0, Math.abs(date + 500 - at) - 500); // a Date has whole seconds
  const detail = `it differs by ${Math.round(skewMs / 1_000)} s from the clock of this machine`;
  const next =
    'Let NTP set both clocks, on the machines themselves: timedatectl set-ntp true. Timers, expiry of tokens and the order of ids depend on them.';
  if (skewMs > skewFailMs) return fail('clock', detail, next);
  return skewMs > skewWarnMs ? warn('clock', detail, next) : ok('clock', detail);
}

async function readyOf(check: string, url: string): Promise<Finding> {
  const answer = await ask(`${url}/readyz`);
  if (typeof answer === 'string')
    return fail(
      check,
      `nothing answers at ${url} (${answer})`,
      `Is the process of ${url} running? Its log says why not.`,
    );
  if (answer.status === 200) return ok(check, 'it does its work');
  return fail(check, reasonIn(answer), 'Mend what the reason names; the process goes on by itself.');
}

function reasonIn({ text, status }: Answer): string {
  try {
    const { reason, detail } = JSON.parse(text) as { readonly reason?: string; readonly detail?: string };
    return reason ?? detail ?? `it answers ${status}`;
  } catch {
    return `it answers ${status}`; // no JSON: a proxy's page
  }
}

async function versionOf(url: string): Promise<Finding> {
  const answer = await ask(`${url}/openapi.json`);
  const version = typeof answer === 'string' || answer.status !== 200 ? null : versionIn(answer.text);
  if (version === null)
    return fail(
      'version',
      `${url} has no API document`,
      'Is it Dormouse? Pass the address of the ingress gateway: --url URL',
    );
  if (version === toolVersion) return ok('version', version);
  return warn('version', `it is ${version}, and this tool is ${toolVersion}`, 'Use the tool of its version.');
}

function versionIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { readonly info?: { readonly version?: string } }).info?.version ?? null;
  } catch {
    return null; // another program's page
  }
}

const bearer = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });

async function keyOf({ url, key }: Installation): Promise<readonly Finding[]> {
  const read = await ask(`${url}/v1/threads?limit=1`, bearer(key));
  if (typeof read === 'string') return [fail('key', `no answer (${read})`, 'Run it again.')];
  if (read.status === 401)
    return [fail('key', 'it is not accepted', 'Pass --key KEY, or name the data directory that has it: --data DIR')];
  const admin = await ask(`${url}/v1/api-keys?limit=1`, bearer(key));
  const isAdmin = typeof admin !== 'string' && admin.status === 200;
  if (read.status !== 200 && !isAdmin)
    return [warn('key', reasonIn(read), 'Use a key with the scopes read and tenant:admin.')];
  if (isAdmin) return [ok('key', 'it has the scope tenant:admin')];
  return [
    warn('key', 'it lacks the scope tenant:admin', 'Parked threads and metrics stay unseen: use a key that has it.'),
  ];
}

/** As a tool server sees it: a token that is none is refused by Dormouse itself, and by nothing before it. */
async function callbacksOf({ callbacks }: Installation): Promise<Finding> {
  if (callbacks === null)
    return warn(
      'callbacks',
      'their address is not known here',
      'Pass what DORMOUSE_CALLBACK_BASE_URL says: --callbacks URL',
    );
  const answer = await ask(`${callbacks}/callback/doctor`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const next = 'Tool servers call this address: mend DORMOUSE_CALLBACK_BASE_URL, its name, or the proxy before it.';
  if (typeof answer === 'string') return fail('callbacks', `nothing answers at ${callbacks} (${answer})`, next);
  const isOurs = [401, 403, 404].includes(answer.status) && answer.headers.has('x-request-id');
  if (!isOurs) return fail('callbacks', `${callbacks} answers ${answer.status}, and not as Dormouse does`, next);
  return ok('callbacks', `${callbacks} is a callback gateway, as seen from this machine`);
}

async function parkedOf({ url, key, hint }: Installation): Promise<Finding> {
  const answer = await ask(`${url}/v1/parked?limit=200`, bearer(key));
  if (typeof answer === 'string' || answer.status !== 200)
    return warn('parked', 'parked threads cannot be listed', 'Use a key of scope tenant:admin.');
  const { data } = JSON.parse(answer.text) as { readonly data: readonly unknown[] };
  if (data.length === 0) return ok('parked', 'no thread is parked');
  return warn(
    'parked',
    `${data.length} threads wait for an operator`,
    `See why: ${hint('parked')}; then replay or drop.`,
  );
}

async function metricsOf({ url, key, operations, hint }: Installation): Promise<readonly Finding[]> {
  const sources = operations.length > 0 ? operations : [url];
  const texts: string[] = [];
  for (const source of sources) {
    const answer = await ask(`${source}/metrics`, operations.length > 0 ? {} : bearer(key));
    if (typeof answer !== 'string' && answer.status === 200) texts.push(answer.text);
  }
  if (texts.length === 0)
    return [warn('metrics', 'no metrics can be read', 'Pass the operations port of each process: --operations URL')]; // (C2)
  return [lagOf(texts), waitsOf(texts, hint), diskOf(texts), ...dataOf(texts)];
}

function lagOf(texts: readonly string[]): Finding {
  const lags = samplesOf(texts, 'dormouse_consumer_lag');
  const lag = lags.reduce((sum, { value }) => sum + value, 0);
  const oldest = largest(samplesOf(texts, 'dormouse_oldest_unreleased_seconds')) ?? 0;
  const detail = `${lag} records wait, the oldest input for ${Math.round(oldest)} s`;
  if (lag <= lagMax && oldest <= unreleasedSecondsMax) return ok('lag', detail);
  return warn('lag', detail, 'docs/runbooks/DormouseConsumerLagGrowing.md, DormouseOldestInput.md');
}

function waitsOf(texts: readonly string[], hint: Hint): Finding {
  const waits = samplesOf(texts, 'dormouse_oldest_wait_seconds').filter(({ value }) => value > 0);
  const shown = waits.map(({ labels, value }) => `${labels['kind'] ?? ''} ${Math.round(value)} s`).join(', ');
  const detail = shown === '' ? 'no thread waits' : `the oldest: ${shown}`;
  const isLate = waits.some(({ labels, value }) => labels['kind'] === 'tool_call' && value > toolCallSecondsMax);
  if (!isLate) return ok('waits', detail);
  const next = `A tool server has had a call for over an hour: ${hint('threads')}; ${hint('why THREAD')}`;
  return warn('waits', detail, next);
}

/** Of one process; a cluster has none. */
function dataOf(texts: readonly string[]): readonly Finding[] {
  const valueOf = (name: string): number | null => largest(samplesOf(texts, name));
  const used = valueOf('dormouse_data_directory_bytes');
  if (used === null) return [];
  const bound = valueOf('dormouse_data_directory_warn_bytes') ?? 0;
  const inMib = (bytes: number): string => `${Math.round(bytes / mib)} MiB`;
  if (bound === 0) return [ok('data', `${inMib(used)} are in use, without a bound`)];
  const detail = `${inMib(used)} are in use, the bound is ${inMib(bound)}`;
  const next = 'Keep less: docs/how-to/keep-data-for-a-time.md; or raise DORMOUSE_DATA_DIR_WARN_BYTES.';
  return [used > bound ? warn('data', detail, next) : ok('data', detail)];
}

function diskOf(texts: readonly string[]): Finding {
  const free = samplesOf(texts, 'dormouse_disk_free_bytes').map(({ value }) => value);
  if (free.length === 0) return warn('disk', 'no process says how much is free', 'Is DORMOUSE_METRICS false?');
  const least = Math.min(...free);
  const detail = `${Math.round(least / mib)} MiB are free`;
  const next = 'docs/runbooks/DormouseDiskLow.md';
  if (least < diskFailBytes) return fail('disk', detail, next);
  return least < diskWarnBytes ? warn('disk', detail, next) : ok('disk', detail);
}
