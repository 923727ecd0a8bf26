// What one process sees of tool servers, counted in memory and written in batches off the path. Not here: what health
// is (tool-health.ts), which ports are watched (watched-ports.ts).
//
// Invariants:
//   W1. Counting is synchronous and waits for nothing: no call, commit or callback pays for it with a trip to a store.
//   W2. A crash loses what was not written: at most the last `writeEveryMs`, as long as the store answers. A stop loses
//       nothing.
//   W3. Nothing is scheduled while nothing was seen and no breaker holds.
//   W4. What is kept does not grow with tools, threads or calls: one cell per tool server and minute, `cellsMax` in
//       all. Beyond that nothing further is counted until cells are written, and the log says so.
//   W5. A row has all that its minute has so far, so that writing it again changes nothing. (ToolActivity Y1)
//   W6. A breaker that holds is written again every `breakerAgainMs`; one that closes is written once more.
//   W7. Callbacks and gates know the name of their tool server; the id is read when they are written. What concerns a
//       name that is not registered any more is dropped.
import {
  type ActivityRow,
  type BreakerState,
  type Clock,
  type Discovery,
  type Entropy,
  type Logger,
  type Metrics,
  type PostError,
  type Report,
  type SendOutcome,
  type ToolActivity,
  type ToolServer,
  type ToolServers,
  type TenantId,
  storedTenantId,
} from '@dormouse/ports';
import { saysNothing } from '../tool-dispatcher/deliver/breaker.ts';
import type { HoldingGate } from '../tool-dispatcher/deliver/server-gate.ts';
import { createLateWrites } from '../late-writes.ts';
import { createRegistrations } from '../tool-dispatcher/registrations.ts';
import { addTo, bucketOf } from './time-buckets.ts';

export interface DispatcherWatch {
  /** A valid manifest was fetched. */
  discovered(server: ToolServer): void;
  /** Where the gates that hold are read; null when the dispatcher stops. */
  gates(holding: (() => readonly HoldingGate[]) | null): void;
}

export interface ToolWatch extends DispatcherWatch {
  /** A POST ended. `tookMs`: until its acknowledgement. */
  posted(server: ToolServer, outcome: SendOutcome, tookMs: number): void;
  /** A result of this tool server settled a call. `tookMs`: as long as the call was with the tool server. */
  answered(tenant: TenantId, toolServer: string, tookMs: number): void;
  /** Writes what is left; one attempt. */
  flush(): Promise<void>;
}

export interface ToolWatchDeps {
  readonly activity: ToolActivity;
  readonly toolServers: ToolServers;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** One tool server in one minute. */
interface Cell extends Pick<ActivityRow, 'tenant' | 'toolServerId' | 'from'> {
  readonly acks: Record<string, number>;
  readonly callbacks: Record<string, number>;
  readonly errors: Partial<Record<PostError, number>>;
  breaker: BreakerState | null;
  writtenAt: number;
  isChanged: boolean;
}

/** Callbacks of one tool server that are not in a cell yet. (W7) */
interface Answers {
  readonly tenant: TenantId;
  readonly toolServer: string;
  readonly callbacks: Record<string, number>;
}

const writeEveryMs = 1_000;
const breakerAgainMs = 10_000;
const minuteMs = 60_000;
const cellsMax = 10_000;
const discoveriesShownMax = 1_000;
const discoveriesShownMs = 7 * 86_400_000;
const registrationTtlMs = 1_000;

export function createToolWatch(deps: ToolWatchDeps): ToolWatch {
  const { activity, clock, logger, metrics } = deps;
  const reporter = deps.entropy.nonce();
  const registrations = createRegistrations(deps.toolServers, clock, registrationTtlMs);
  const cells = new Map<string, Cell>();
  const answers = new Map<string, Answers>();
  const discoveries = new Map<string, Discovery>();
  /** For the gauge, by tenant and name. */
  const shown = new Map<string, { readonly name: string; readonly at: number }>();
  let readGates: (() => readonly HoldingGate[]) | null = null;
  /** Ids of the tool servers whose breaker was last written as one that holds. */
  let held = new Set<string>();
  let isLosing = false;
  const warn = (code: string): void => logger.warn('tool_activity_unwritten', { code });
  const { schedule, write } = createLateWrites({ clock, everyMs: writeEveryMs, writeAll, warn });

  /** Null when there are too many. (W4) */
  function cellOf(tenant: TenantId, toolServerId: string): Cell | null {
    const from = Math.floor(clock.now() / minuteMs) * minuteMs;
    const key = keyOf(tenant, toolServerId, from);
    const known = cells.get(key);
    if (known !== undefined) return known;
    if (cells.size >= cellsMax) {
      if (!isLosing) logger.warn('tool_activity_dropped', { cells: cells.size });
      isLosing = true;
      schedule(); // makes room
      return null;
    }
    const counts = { acks: {}, callbacks: {}, errors: {} };
    const cell = { tenant, toolServerId, from, ...counts, breaker: null, writtenAt: 0, isChanged: false };
    cells.set(key, cell);
    return cell;
  }

  function change(cell: Cell | null, how: (cell: Cell) => void): void {
    if (cell === null) return;
    how(cell);
    cell.isChanged = true;
    schedule();
  }

  /** (W7) */
  async function takeAnswers(): Promise<void> {
    for (const [key, { tenant, toolServer, callbacks }] of [...answers]) {
      const server = await registrations.get(tenant, toolServer);
      answers.delete(key);
      if (server !== null) change(cellOf(tenant, server.id), (cell) => addTo(cell.callbacks, callbacks));
    }
  }

  /** (W6) */
  async function takeGates(): Promise<void> {
    const holding = new Map<string, HoldingGate>();
    for (const gate of readGates?.() ?? []) {
      const server = await registrations.get(gate.tenant, gate.toolServer);
      if (server !== null) holding.set(keyOf(gate.tenant, server.id), gate);
    }
    const now = clock.now();
    for (const [key, { tenant, breaker }] of holding) {
      const cell = cellOf(tenant, idIn(key));
      const isTold = cell?.breaker === breaker && now - cell.writtenAt < breakerAgainMs;
      if (!isTold) change(cell, (one) => (one.breaker = breaker));
    }
    for (const key of held)
      if (!holding.has(key)) change(cellOf(tenantIn(key), idIn(key)), (cell) => (cell.breaker = 'closed'));
    held = new Set(holding.keys());
  }

  async function writeAll(): Promise<void> {
    const told = [...discoveries.values()];
    const changed: Cell[] = [];
    try {
      await takeAnswers();
      await takeGates();
      for (const cell of cells.values()) if (cell.isChanged) changed.push(cell);
      const now = clock.now();
      const rows = changed.map((cell) => rowOf(cell, reporter, now));
      for (const cell of changed) cell.isChanged = false;
      if (rows.length > 0 || told.length > 0) await activity.put(rows, told);
      for (const cell of changed) cell.writtenAt = now;
      for (const one of told) if (discoveries.get(serverOf(one)) === one) discoveries.delete(serverOf(one));
    } catch (error) {
      for (const cell of changed) cell.isChanged = true;
      throw error;
    } finally {
      forgetOld();
    }
    if (answers.size > 0 || held.size > 0) schedule(); // (W3)
  }

  function forgetOld(): void {
    const minute = Math.floor(clock.now() / minuteMs) * minuteMs;
    for (const [key, cell] of cells) if (!cell.isChanged && cell.from < minute) cells.delete(key);
    isLosing &&= cells.size >= cellsMax;
  }

  function reportAges(report: Report): void {
    const now = clock.now();
    const oldest = new Map<string, number>();
    for (const { name, at } of shown.values())
      if (now - at <= discoveriesShownMs) oldest.set(name, Math.min(at, oldest.get(name) ?? at));
    for (const [name, at] of oldest) report(Math.max(0, now - at) / 1_000, name);
  }

  return {
    posted({ tenant, id, name }, outcome, tookMs) {
      const error = errorOf(outcome);
      if (error === 'none') return;
      const cell = cellOf(tenant, id);
      if (error === null) return change(cell, ({ acks }) => countIn(acks, bucketOf(tookMs)));
      metrics.counter('dormouse_tool_errors_total', name, error).add(1);
      change(cell, ({ errors }) => countIn(errors, error));
    },
    answered(tenant, toolServer, tookMs) {
      metrics.histogram('dormouse_tool_callback_seconds', toolServer).record(tookMs / 1_000);
      const key = keyOf(tenant, toolServer);
      const known = answers.get(key);
      if (known === undefined && answers.size >= cellsMax) return; // (W4)
      const { callbacks } = known ?? { callbacks: {} };
      countIn(callbacks, bucketOf(tookMs));
      if (known === undefined) answers.set(key, { tenant, toolServer, callbacks });
      schedule();
    },
    discovered({ tenant, id, name }) {
      const at = clock.now();
      const found = { tenant, toolServerId: id, at };
      shown.delete(keyOf(tenant, name));
      shown.set(keyOf(tenant, name), { name, at });
      for (const oldest of shown.keys()) if (shown.size > discoveriesShownMax) shown.delete(oldest);
      if (discoveries.size < cellsMax || discoveries.has(serverOf(found))) discoveries.set(serverOf(found), found);
      schedule();
    },
    gates(holding) {
      if (holding !== null) metrics.gauge('dormouse_tool_discovery_age_seconds', reportAges); // of dispatchers only
      readGates = holding;
    },
    flush: write,
  };
}

/** `none`: nothing was sent, which says nothing about the server. */
function errorOf(outcome: SendOutcome): PostError | 'none' | null {
  if (outcome.sent) {
    if (outcome.status < 300) return null;
    return outcome.status < 500 ? '4xx' : '5xx';
  }
  if (saysNothing(outcome)) return 'none';
  return timeouts.has(outcome.code) ? 'timeouts' : 'resets';
}

const timeouts: ReadonlySet<string> = new Set([
  ...['TIMEOUT', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
]);

/** (W5) */
function rowOf(cell: Cell, reporter: string, writtenAt: number): ActivityRow {
  const { tenant, toolServerId, from, acks, callbacks, errors, breaker } = cell;
  const counts = { acks: { ...acks }, callbacks: { ...callbacks }, errors: { ...errors } };
  return { tenant, toolServerId, reporter, from, counts, breaker, writtenAt };
}

function countIn<Name extends string | number>(counts: Partial<Record<Name, number>>, name: Name): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

const keyOf = (tenant: TenantId, ...rest: readonly (string | number)[]): string => [tenant, ...rest].join(' ');
const serverOf = ({ tenant, toolServerId }: Discovery): string => keyOf(tenant, toolServerId);
const tenantIn = (key: string): TenantId => storedTenantId(key.slice(0, key.indexOf(' ')));
const idIn = (key: string): string => key.slice(key.indexOf(' ') + 1);
