// GET /metrics on the API port, where a process has no operations port: for keys that administer a tenant.
import { metricsMediaType } from '@dormouse/adapter-telemetry';
import type { FastifyInstance } from 'fastify';
import { installationAdmin } from '../../api/operation.ts';
import { type Doorkeeper, enter } from '../door/caller.ts';

export interface MetricsRouteDeps {
  readonly doorkeeper: Doorkeeper;
  /** Null where the operations port has them, or metrics are off. */
  readonly metricsText: (() => Promise<string>) | null;
}

export function registerMetricsRoute(server: FastifyInstance, { doorkeeper, metricsText }: MetricsRouteDeps): void {
  if (metricsText === null) return;
  server.get('/metrics', async (request, reply) => {
    await enter(doorkeeper, request, installationAdmin, undefined);
    return reply.header('content-type', metricsMediaType).send(await metricsText());
  });
}
