// Amounts of tenants that all processes count together: each counts its own in memory, writes them in batches off the
// path, and reads what the others have written.
//
// Invariants:
//   M1. Counting and asking are synchronous: no turn waits for the store, and none fails because of it. Where the store
//       is away, a process goes on with its own amounts and the last that it has read.
//   M2. A total lacks what other processes have counted within `writeEveryMs` and `readEveryMs` together. Own amounts
//       are in it at once.
//   M3. A crash loses what was not written: the last `writeEveryMs`. `flush` writes what is left.
//   M4. A level (how many are open) is repeated while it is not 0, and ends by itself `levelMs` after the last time: a
//       process that has died holds nothing.
//   M5. At most `cellsMax` amounts and `tenantsMax` tenants are kept. An amount without room is not counted.
import { createBoundedMap } from '@dormouse/collections';
import type { Clock, Entropy, Logger, TenantTallies, TenantTallyRow, TenantId } from '@dormouse/ports';
import { faultCode } from '../fault-code.ts';

/** What is counted, and when it is over, milliseconds since the epoch; null for never. */
export interface Meter {
  readonly name: string;
  readonly until: number | null;
}

export interface TenantMeter {
  add(tenant: TenantId, meter: Meter, amount: number): void;
  /** Sets this process's part of a level. (M4) */
  set(tenant: TenantId, name: string, level: number): void;
  /** Of all processes, as far as it is known here. (M2) */
  total(tenant: TenantId, name: string): number;
  /** Whether what the others have counted was read within the last `readEveryMs`. */
  isFresh(tenant: TenantId): boolean;
  /** Resolves when what the others have counted was read within the last `readEveryMs`, or could not be. (M1) */
  learn(tenant: TenantId): Promise<void>;
  /** Writes what is left; one attempt. Levels are repeated no more. */
  flush(): Promise<void>;
}

export interface TenantMeterDeps {
  readonly tallies: TenantTallies;
  readonly clock: Clock;
  readonly entropy: Pick<Entropy, 'nonce'>;
  readonly logger: Logger;
}

interface Cell extends Meter {
  readonly tenant: TenantId;
  readonly isLevel: boolean;
  amount: number;
  isChanged: boolean;
}

interface Known {
  readonly sums: ReadonlyMap<string, number>;
  /** When they were asked for. */
  readonly at: number;
}

const writeEveryMs = 1_000;
const readEveryMs = 1_000;
const levelMs = 15_000;
const levelAgainMs = 5_000;
const cellsMax = 100_000;
const tenantsMax = 20_000;
const tenantsPerReadMax = 500;

export function createTenantMeter({ tallies, clock, entropy, logger }: TenantMeterDeps): TenantMeter {
  const reporter = entropy.nonce();
  const cells = new Map<string, Cell>();
  const known = createBoundedMap<Known>(tenantsMax);
  const wanted = new Set<TenantId>();
  let reading: Promise<void> | null = null;
  let isScheduled = false;
  let isFlushed = false;
  let isAway = false;
  let levelsAt = clock.now();
  let writing: Promise<void> = Promise.resolve();

  function cellOf(tenant: TenantId, { name, until }: Meter, isLevel: boolean): Cell | null {
    const key = `${tenant} ${name}`;
    const found = cells.get(key);
    if (found !== undefined) return found;
    if (cells.size >= cellsMax) forgetEnded();
    if (cells.size >= cellsMax) return null; // (M5)
    const made: Cell = { tenant, name, until, isLevel, amount: 0, isChanged: false };
    cells.set(key, made);
    return made;
  }

  function forgetEnded(): void {
    const now = clock.now();
    for (const [key, { isLevel, amount, until, isChanged }] of cells)
      if (!isChanged && (isLevel ? amount === 0 : until !== null && until <= now)) cells.delete(key);
  }

  function schedule(): void {
    if (isScheduled || isFlushed) return;
    isScheduled = true;
    clock.alarm(writeEveryMs, () => {
      isScheduled = false;
      void write();
    });
  }

  function change(cell: Cell | null, amount: number): void {
    if (cell === null || cell.amount === amount) return;
    cell.amount = amount;
    cell.isChanged = true;
    schedule();
  }

  function rowOf({ tenant, name, amount, until, isLevel }: Cell): TenantTallyRow {
    return { tenant, name, amount, reporter, until: isLevel ? clock.now() + levelMs : until };
  }

  async function writeAll(): Promise<void> {
    repeatLevels();
    const changed = [...cells.values()].filter(({ isChanged }) => isChanged);
    for (const cell of changed) cell.isChanged = false;
    try {
      if (changed.length > 0) await tallies.put(changed.map(rowOf));
      isAway = false;
    } catch (error) {
      for (const cell of changed) cell.isChanged = true;
      if (!isAway) logger.warn('tenant_tallies_unwritten', { code: faultCode(error) });
      isAway = true;
    }
    forgetEnded();
    if ([...cells.values()].some(({ isChanged, isLevel, amount }) => isChanged || (isLevel && amount > 0))) schedule();
  }

  /** (M4) */
  function repeatLevels(): void {
    const now = clock.now();
    if (now - levelsAt < levelAgainMs && now >= levelsAt) return;
    levelsAt = now;
    for (const cell of cells.values()) if (cell.isLevel && cell.amount > 0) cell.isChanged = true;
  }

  /** One at a time: what is counted meanwhile is in the next. */
  function write(): Promise<void> {
    writing = writing.then(writeAll);
    return writing;
  }

  function isFresh(tenant: TenantId): boolean {
    const at = known.get(tenant)?.at;
    const now = clock.now();
    return at !== undefined && at <= now && now - at < readEveryMs;
  }

  function read(tenant: TenantId): Promise<void> {
    wanted.add(tenant);
    reading ??= readWanted();
    return reading;
  }

  /** Every tenant that is asked for meanwhile is read too. */
  async function readWanted(): Promise<void> {
    await Promise.resolve(); // those of this tick together
    while (wanted.size > 0) {
      const tenants = [...wanted].slice(0, tenantsPerReadMax);
      for (const tenant of tenants) wanted.delete(tenant);
      await readSome(tenants);
    }
    reading = null;
  }

  async function readSome(tenants: readonly TenantId[]): Promise<void> {
    const at = clock.now();
    const sums = new Map(tenants.map((tenant) => [tenant, new Map<string, number>()]));
    try {
      for (const { tenant, name, amount } of await tallies.sums(tenants, reporter, at))
        sums.get(tenant)?.set(name, amount);
      for (const tenant of tenants) known.set(tenant, { sums: sums.get(tenant) ?? new Map(), at });
    } catch (error) {
      if (!isAway) logger.warn('tenant_tallies_unread', { code: faultCode(error) });
      isAway = true;
      for (const tenant of tenants) known.set(tenant, { sums: known.get(tenant)?.sums ?? new Map(), at }); // (M1)
    }
  }

  return {
    add: (tenant, meter, amount) => {
      if (amount === 0) return;
      const cell = cellOf(tenant, meter, false);
      change(cell, (cell?.amount ?? 0) + amount);
    },
    set: (tenant, name, level) => change(cellOf(tenant, { name, until: null }, true), level),
    total: (tenant, name) => {
      if (!isFresh(tenant)) void read(tenant);
      return (cells.get(`${tenant} ${name}`)?.amount ?? 0) + (known.get(tenant)?.sums.get(name) ?? 0);
    },
    isFresh,
    learn: async (tenant) => {
      if (!isFresh(tenant)) await read(tenant);
    },
    flush: async () => {
      isFlushed = true;
      await write();
    },
  };
}
