// Which services a process runs, and in which order they start. Each is a function over ports; this file only connects.
import {
  type CallbackGateway,
  createCallbackGateway,
  createCallbackTokens,
  createIngress,
  createNotifier,
  createOpeningSweeper,
  createThreadProcessor,
  createToolDispatcher,
  type Ingress,
  type Service,
} from '@dormouse/runtime';
import type { Config } from './config.ts';
import type { Platform } from './platform/platform.ts';

export interface Assembled {
  readonly ingress: Ingress;
  readonly callbacks: CallbackGateway;
  /** In the order they start, and stop: the processor last, so that what a worker still has to say can be decided. */
  readonly services: readonly Service[];
}

export function assembleServices(config: Config, platform: Platform, callbackBase: string): Assembled {
  const { stores, transport, model, keys, sealer, clock, entropy, logger } = platform;
  const { inputs, work, ledger, blobs, toolServers } = stores;
  const callbackTokens = createCallbackTokens({
    keys: [{ id: 'k1', secret: keys.key('callbacks'), since: 0, revoked: false }],
    publicBase: callbackBase,
  });
  const ingress = createIngress({
    ...stores,
    bus: inputs,
    idempotencyKeys: stores.idempotency,
    transport,
    clock,
    entropy,
    seal: (owner, value) => sealer.seal(owner, value),
    signingKey: keys.key('thread tokens'),
  });
  const callbacks = createCallbackGateway({
    tokens: callbackTokens,
    inputs,
    blobs,
    dedup: stores.dedup,
    clock,
    logger,
  });
  const failed = (fault: unknown): void => logger.error('opening_sweep_failed', { reason: String(fault) });
  const services = [
    createOpeningSweeper({ directory: stores.directory, bus: inputs, clock, failed }),
    createToolDispatcher({
      work,
      inputs,
      ledger,
      toolServers,
      toolsets: stores.toolsets,
      log: stores.log,
      transport,
      callbackTokens,
      clock,
      entropy,
      logger,
      settings: {
        ackTimeoutMs: config.TOOL_ACK_TIMEOUT_MS,
        retryTotalMs: config.TOOL_RETRY_TOTAL_MS,
        retryFirstMs: config.TOOL_RETRY_FIRST_MS,
        unknownOutcomeGraceMs: config.UNKNOWN_OUTCOME_GRACE_MS,
      },
    }),
    createNotifier({ work, toolServers, transport, ledger, clock, entropy, logger }),
    createThreadProcessor({
      ...stores,
      model,
      clock,
      entropy,
      logger,
      validateArguments: platform.argumentValidator.validate,
      idKey: keys.key('ids'),
      settings: {
        modelStartTimeoutMs: config.MODEL_START_TIMEOUT_MS,
        modelStallTimeoutMs: config.MODEL_STALL_TIMEOUT_MS,
        modelRetryTotalMs: config.MODEL_RETRY_TOTAL_MS,
      },
    }),
  ];
  return { ingress, callbacks, services };
}
