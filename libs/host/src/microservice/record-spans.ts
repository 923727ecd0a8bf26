// The CONSUMER span of every record that a controller of this process handles.
//
// Invariants:
//   S1. Of `dispatches` and `notices` the handler's message has the span's context.
//   S2. An input only notes when it was taken: its span is recorded with the commit that decides it.
import type { InputDelivery, WorkTopics } from '@dormouse/ports';
import { processed, type Tracing } from '@dormouse/runtime';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { defaultIfEmpty, from, lastValueFrom, type Observable } from 'rxjs';
import type { RecordContext } from './record-context.ts';

export class RecordSpans implements NestInterceptor {
  constructor(private readonly tracing: Tracing) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const topic = context.switchToRpc().getContext<RecordContext>().getTopic();
    const args = context.getArgs<[InputDelivery | WorkTopics['dispatches']]>();
    if (topic === 'inputs') {
      (args[0] as InputDelivery).takenAt = this.tracing.wallNow(); // (S2)
      return next.handle();
    }
    const handle = async (message: WorkTopics['dispatches']): Promise<void> => {
      args[0] = message; // (S1)
      await lastValueFrom(next.handle().pipe(defaultIfEmpty(undefined)));
    };
    return from(processed(this.tracing, topic, args[0] as WorkTopics['dispatches'], handle));
  }
}
