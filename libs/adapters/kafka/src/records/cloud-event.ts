// The headers of a record: the attributes of CloudEvents 1.0 in the binary mode of its Kafka binding, where an
// attribute is a header whose name begins with `ce_`, and `datacontenttype` is `content-type`. They are for others that
// read the topics: nothing here is decided by them.
//
// Invariants:
//   C1. `ce_source` and `ce_id` together name one input or effect: ids are unique inside a thread.
//   C2. Consumers read the value alone, and the header `traceparent`: records of earlier releases, whose headers are
//       `ce-id` and `ce-type`, are read like any other.
import type { ThreadKey } from '@dormouse/ports';
import type { TopicName } from '../topic-names.ts';

export const traceHeader = 'traceparent';

export interface CloudEvent {
  readonly topic: TopicName;
  readonly key: ThreadKey;
  readonly id: string;
  /** Kind of the input, or name of the effect. */
  readonly name: string;
  /** W3C trace context; null for none. */
  readonly trace: string | null;
}

export const typeOf = (topic: TopicName, name: string): string => `dormouse.${topic}.${name}`;

export function headersOf({ topic, key, id, name, trace }: CloudEvent): Readonly<Record<string, string>> {
  return {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: `/tenants/${encodeURIComponent(key.tenant)}/threads/${encodeURIComponent(key.thread)}`, // (C1)
    ce_type: typeOf(topic, name),
    'content-type': 'application/json',
    ...(trace === null ? {} : { [traceHeader]: trace }),
  };
}
