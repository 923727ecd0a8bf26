// What a handler of records is given beside the record, as `@Ctx()`: guards, interceptors and filters see it through
// `switchToRpc().getContext()`.
import type { Assignment, ThreadKey, WorkPlace } from '@dormouse/ports';
import { BaseRpcContext } from '@nestjs/microservices';

export type RecordTopic = 'inputs' | 'dispatches' | 'notices';

interface Traced extends ThreadKey {
  readonly trace: string | null;
}

export class RecordContext extends BaseRpcContext<[RecordTopic, Traced]> {
  constructor(topic: RecordTopic, record: Traced) {
    super([topic, record]);
  }

  getTopic(): RecordTopic {
    return this.getArgByIndex(0);
  }

  /** The thread that the record belongs to. */
  getThread(): ThreadKey {
    const { tenant, thread } = this.getArgByIndex(1) as Traced;
    return { tenant, thread };
  }

  /** W3C `traceparent` of the sender, or null. */
  getTrace(): string | null {
    return (this.getArgByIndex(1) as Traced).trace;
  }
}

export class InputContext extends RecordContext {
  constructor(
    record: Traced,
    readonly assignment: Assignment,
  ) {
    super('inputs', record);
  }
}

export class WorkContext extends RecordContext {
  constructor(
    topic: 'dispatches' | 'notices',
    record: Traced,
    readonly place: WorkPlace,
  ) {
    super(topic, record);
  }
}
