// Counts the POSTs to tool servers and times their acknowledgements, at the port of the transport.
import type { attemptClasses, SendOutcome, ToolTransport } from '@dormouse/ports';
import type { Measuring } from './measuring.ts';
import { isRefusedHere } from '../tool-dispatcher/deliver/breaker.ts';

type AttemptClass = (typeof attemptClasses)[number];

export function measuredTransport(transport: ToolTransport, { metrics, now }: Measuring): ToolTransport {
  return {
    ...transport,
    post: async (request) => {
      const from = now();
      const outcome = await transport.post(request);
      const { name } = request.server;
      const kind = classOf(outcome);
      metrics.counter('dormouse_tool_attempts_total', name, kind).add(1);
      if (kind === '2xx') metrics.histogram('dormouse_tool_ack_seconds', name).record((now() - from) / 1_000);
      return outcome;
    },
  };
}

const statusClasses: readonly AttemptClass[] = ['2xx', '3xx', '4xx', '5xx'];

function classOf(outcome: SendOutcome): AttemptClass {
  if (outcome.sent) return statusClasses[Math.floor(outcome.status / 100) - 2] ?? '5xx';
  if (isRefusedHere(outcome.code)) return 'not_sent';
  return outcome.reached ? 'no_answer' : 'not_reached';
}
