import { noTracer, type Span, type TenantRecord, type Tracer, tenantId } from '@dormouse/ports';
import { Fault, newTenant } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createContentSwitch, tracerWithSwitch } from './content-switch.ts';

const words = { 'gen_ai.input.messages': '[]', 'gen_ai.tool.call.result': '"secret"', 'gen_ai.tool.description': 'd' };
const span = (attributes: Span['attributes']): Span => ({
  ...{ name: 'chat m', kind: 'client', context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true } },
  ...{ parentId: null, startedAt: 1, endedAt: 2, links: [], error: null },
  attributes: { 'gen_ai.request.model': 'm', ...attributes },
});

function scene(of: () => TenantRecord | null, isOnForAll = false) {
  const recorded: Span[] = [];
  const tracer: Tracer = { isOn: true, isSampled: () => true, record: (each) => void recorded.push(each) };
  const records = { of: async () => of(), known: () => of() };
  const contents = createContentSwitch(records, isOnForAll);
  return { recorded, contents, switched: tracerWithSwitch(tracer, contents) };
}
const tenant = (traceContent: boolean) => newTenant(tenantId('acme'), 0, { traceContent });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it.each([
  ['whose record says so has its contents', () => tenant(true), { 'dormouse.tenant': 'acme' }, false, true],
  ['whose record does not has none', () => tenant(false), { 'dormouse.tenant': 'acme' }, false, false],
  ['without a record has none', () => null, { 'dormouse.tenant': 'acme' }, false, false],
  ['that no span names has none', () => tenant(true), {}, false, false],
  ['has its contents where those of all are asked for', () => null, { 'dormouse.tenant': 'acme' }, true, true],
])('W1 a tenant %s', async (_name, of, named, isOnForAll, has) => {
  const { recorded, switched } = scene(of, isOnForAll);
  switched.record(span({ ...named, ...words }));
  await settled();
  expect(recorded).toHaveLength(1);
  expect(recorded[0]?.attributes).toEqual({ 'gen_ai.request.model': 'm', ...named, ...(has ? words : {}) });
});

it('W1 a record that cannot be read allows nothing', async () => {
  const { recorded, switched } = scene(() => {
    throw new Fault('UNAVAILABLE', 'away');
  });
  switched.record(span({ 'dormouse.tenant': 'acme', ...words }));
  await settled();
  expect(Object.keys(recorded[0]?.attributes ?? {})).toEqual(['gen_ai.request.model', 'dormouse.tenant']);
});

it('W2 a span without contents is recorded at once', () => {
  const { recorded, switched } = scene(() => tenant(false));
  switched.record(span({ 'dormouse.tenant': 'acme' }));
  expect(recorded).toHaveLength(1);
});

it('collects contents where they may be allowed', () => {
  const may = (of: () => TenantRecord | null | undefined): boolean =>
    createContentSwitch({ of: async () => null, known: of }, false).mayHave(tenantId('acme'));
  expect([may(() => tenant(true)), may(() => undefined), may(() => tenant(false)), may(() => null)]).toEqual([
    ...[true, true, false, false],
  ]);
  expect(tracerWithSwitch(noTracer, { allows: async () => true })).toBe(noTracer);
});
