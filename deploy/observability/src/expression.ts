// A PromQL expression as its parser sees it: whether it parses, and which metrics it names.
import { parser } from '@prometheus-io/lezer-promql';

/** Grafana's variable stands where a duration does. */
const plain = (expression: string): string => expression.replaceAll('$__rate_interval', '5m');

/** @throws Error with the place at which the expression does not parse. */
export function metricsIn(expression: string): ReadonlySet<string> {
  const text = plain(expression);
  const names = new Set<string>();
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`${expression} does not parse at ${node.from}`);
      const isMetric = node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector';
      if (isMetric) names.add(text.slice(node.from, node.to));
    },
  });
  return names;
}
