import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Specs that need a real Kafka, MongoDB-compatible server and Redis: started once for all of them.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: [
      'test/cluster/**/*.spec.ts',
      'test/chaos/**/*.spec.ts',
      'test/fuzz/fuzz.spec.ts',
      'test/upgrades/cluster.spec.ts',
      // The same scenarios that run standalone.
      'test/conformance/*.spec.ts',
      'test/isolation/*.spec.ts',
      'test/web/{answer-links,inbox,team-approvals,thread-tokens,ai-sdk,ag-ui}.spec.ts',
      'test/e2e/{access,approvals,audit,audit-actions,bad-input,console-session,door,event-stream,fine-print,first-conversation,idempotency,identity-provider,inbound-events,interruption,isolation,migration,openapi,pauses,pinned-manifests,quotas,reactive,reference-examples,reference-served,storms,tenant-events,tenants,try-tool,unseen-inputs,usage,user-credentials,webhooks}.spec.ts',
    ],
    globalSetup: ['test/services/start-for-tests.ts', 'test/cluster/shared-clusters.ts'],
  },
});
