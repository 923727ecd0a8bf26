// What the services need in order to trace: the port, the wall clock, and when a turn is too old for its trace.
import { noTracer, type Tracer, type TenantId } from '@dormouse/ports';

export interface Tracing {
  readonly tracer: Tracer;
  /** Milliseconds since the epoch, without the offset of a development clock. */
  readonly wallNow: () => number;
  /** Whether spans of the tenant may have what users, models and tools said. Default: none. */
  readonly mayHaveContent?: (tenant: TenantId) => boolean;
  /** Milliseconds of the thread's clock. */
  readonly turnMsMax: number;
}

export const offTracing: Tracing = { tracer: noTracer, wallNow: () => 0, turnMsMax: 0 };
