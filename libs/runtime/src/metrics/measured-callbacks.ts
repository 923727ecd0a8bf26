// Counts the answers to callbacks by status, and the callbacks that were accepted before.
import type { Dedup, Metrics } from '@dormouse/ports';
import type { CallbackGateway } from '../callback-gateway/callback-gateway.ts';
import { countDuplicate } from './measured-log.ts';

export function measuredCallbacks(gateway: CallbackGateway, metrics: Metrics): CallbackGateway {
  const answered = (status: number): void => metrics.counter('dormouse_callbacks_total', String(status)).add(1);
  return {
    ...gateway,
    receive: async (token, read) => {
      try {
        const answer = await gateway.receive(token, read);
        answered(answer.status);
        return answer;
      } catch (error) {
        answered(statusOf(error));
        throw error;
      }
    },
  };
}

/** A failure of the process, unless it says more. */
function statusOf(error: unknown): number {
  const { status } = error as { readonly status?: unknown };
  return typeof status === 'number' ? status : 500;
}

/** A message that `Dedup` has seen is one of the log, or on its way there. */
export function measuredDedup(dedup: Dedup, metrics: Metrics): Dedup {
  return {
    ...dedup,
    seen: async (tenant, id) => {
      const isSeen = await dedup.seen(tenant, id);
      if (isSeen) countDuplicate(metrics, id.slice(id.indexOf(':') + 1)); // it is remembered as `thread:input`
      return isSeen;
    },
  };
}
