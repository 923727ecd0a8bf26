// What is measured for whom, and where it is pushed.
import type { Logger, MetricService } from '@dormouse/ports';

export type OtlpProtocol = 'http/protobuf' | 'http/json' | 'grpc';

/** Endpoint, headers and the rest are read by OpenTelemetry from its own variables. */
export interface MetricsPush {
  readonly protocol: OtlpProtocol;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface MetricsOptions {
  /** Services of this process. */
  readonly services: readonly MetricService[];
  /** Attributes of the process, such as `service.name`; OpenTelemetry's own variables win. */
  readonly resource: Readonly<Record<string, string>>;
  readonly withOldGenAi: boolean;
  /** Null when nothing is pushed. */
  readonly push: MetricsPush | null;
  /** On the disk whose free space is shown. */
  readonly directory: string;
  readonly logger: Logger;
}
