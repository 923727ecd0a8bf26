// Whether a tenant's contents may be in traces: those of all tenants by a setting, or its own record says so.
//
// Invariants:
//   W1. No content leaves in a span unless it is allowed when the span is recorded, as of half a second ago at most. A
//       record that cannot be read allows nothing.
//   W2. Only spans with contents wait for that, and no work waits for a span.
import { storedTenantId, type Span, type Tracer, type TenantId } from '@dormouse/ports';
import type { TenantRecords } from '../tenants/tenant-records.ts';
import { attribute, attributeTable } from './semconv.ts';

export interface ContentSwitch {
  /** Whether contents are worth collecting: false only where they are not allowed. Costs no wait. */
  mayHave(tenant: TenantId): boolean;
  /** (W1) */
  allows(tenant: TenantId): Promise<boolean>;
}

export function createContentSwitch(records: Pick<TenantRecords, 'of' | 'known'>, isOnForAll: boolean): ContentSwitch {
  if (isOnForAll) return { mayHave: () => true, allows: () => Promise.resolve(true) };
  return {
    mayHave: (tenant) => {
      const known = records.known(tenant);
      return known === undefined || known?.traceContent === true;
    },
    allows: async (tenant) => {
      const record = await records.of(tenant).catch(() => null);
      return record?.traceContent === true;
    },
  };
}

const contentNames = Object.values(attributeTable).flatMap(({ name, isContent }) => (isContent === true ? [name] : []));

const hasContent = ({ attributes }: Span): boolean => contentNames.some((name) => attributes[name] !== undefined);

function withoutContent(span: Span): Span {
  const kept = Object.entries(span.attributes).filter(([name]) => !contentNames.includes(name));
  return { ...span, attributes: Object.fromEntries(kept) };
}

/** The tracer, behind the switch. (W1) */
export function tracerWithSwitch(tracer: Tracer, contents: Pick<ContentSwitch, 'allows'>): Tracer {
  if (!tracer.isOn) return tracer;
  return {
    isOn: true,
    isSampled: (traceId) => tracer.isSampled(traceId),
    record: (span) => {
      if (!hasContent(span)) return tracer.record(span); // (W2)
      const tenant = span.attributes[attribute.tenant];
      const asked = typeof tenant === 'string' ? contents.allows(storedTenantId(tenant)) : Promise.resolve(false);
      void asked.then((isAllowed) => tracer.record(isAllowed ? span : withoutContent(span)));
    },
  };
}
