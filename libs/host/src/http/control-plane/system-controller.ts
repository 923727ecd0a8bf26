import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Headers, Inject } from '@nestjs/common';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { isFromHere } from '../door/caller.ts';
import { HttpProblem, invalidAt } from '../problems/problem.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { DEV_CLOCK } from './tokens.ts';
import { offsetMsMax } from '../../platform/clock-offset.ts';
import type { ProcessClock } from '../../platform/process-clock.ts';

@Controller()
export class SystemController {
  constructor(@Inject(DEV_CLOCK) private readonly devClock: ProcessClock | null) {}

  @Operate('advanceClock')
  async advanceClock(
    @OperationCall() { body }: Call<'advanceClock'>,
    @Headers() headers: IncomingHttpHeaders,
  ): Promise<Reply> {
    if (this.devClock === null || !isFromHere(headers))
      throw new HttpProblem('NOT_FOUND', 'There is no development clock here.');
    if (this.devClock.offset() + body.advance_ms > offsetMsMax)
      throw invalidAt('/advance_ms', 'The development clock does not go further than a thousand years.');
    await this.devClock.advance(body.advance_ms);
    return reply(200, { now: new Date(this.devClock.now()).toISOString() });
  }
}
