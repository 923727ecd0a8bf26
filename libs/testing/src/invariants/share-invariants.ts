// Tenants share what there is by their weights, however much one of them asks for. I-26
import type { SlotStep } from './history.ts';
import type { Reading } from './reading.ts';

interface Tenant {
  /** False for one that a quota may hold back: it may wait for other reasons. */
  readonly isJudged: boolean;
  held: number;
  waiting: number;
  /** How often each other tenant was served since this one, without a slot, has begun to wait. */
  readonly overtaken: Map<string, number>;
}

/**
 * I-26: while a tenant that holds no slot waits for one, another is served as often as its weight says, and once more:
 * a round of deficit round robin, and a service that had begun.
 */
export function slotsAreShared({ history }: Reading): readonly string[] {
  const processes = new Map<string, Map<string, Tenant>>();
  return history.slots.flatMap((step) => {
    const tenants = processes.get(step.process) ?? new Map<string, Tenant>();
    processes.set(step.process, tenants);
    return takeStep(tenants, step);
  });
}

function takeStep(tenants: Map<string, Tenant>, { process, step, tenant: name, weight }: SlotStep): readonly string[] {
  const tenant = tenants.get(name) ?? { isJudged: weight !== null, held: 0, waiting: 0, overtaken: new Map() };
  tenants.set(name, tenant);
  const isServed = step === 'taken' || step === 'served';
  if (isServed) tenant.held += 1;
  if (step === 'given') tenant.held -= 1;
  if (step === 'waits') tenant.waiting += 1;
  if (step === 'served' || step === 'left') tenant.waiting -= 1;
  // It is served, gives its last slot back, or begins to wait: it has been overtaken by none yet.
  const begins = (step === 'waits' && tenant.waiting === 1) || (step === 'given' && tenant.held === 0);
  if (isServed || begins) tenant.overtaken.clear();
  if (!isServed) return [];
  const late: string[] = [];
  for (const [other, { isJudged, held, waiting, overtaken }] of tenants) {
    if (other === name || !isJudged || waiting === 0 || held > 0) continue;
    const times = (overtaken.get(name) ?? 0) + 1;
    overtaken.set(name, times);
    if (times === servicesMax(weight) + 1)
      late.push(`${process}: ${name} was given ${times} slots while ${other}, which held none, waited for one`);
  }
  return late;
}

/** The weights of waiting tenants are 1 at least. */
const servicesMax = (weight: number | null): number => Math.ceil(weight ?? 1) + 1;
