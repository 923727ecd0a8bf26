import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Headers, Inject } from '@nestjs/common';
import { TargetRefused } from '../../backup/backup-target.ts';
import type { Backups } from '../../backup/backups.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { isFromHere } from '../door/caller.ts';
import { HttpProblem, invalidAt } from '../problems/problem.ts';
import { BACKUPS } from './tokens.ts';

@Controller()
export class BackupController {
  constructor(@Inject(BACKUPS) private readonly backups: Backups | null) {}

  @Operate('beginBackup')
  async begin(@OperationCall() { body }: Call<'beginBackup'>, @Headers() headers: IncomingHttpHeaders): Promise<Reply> {
    const report = await this.known(headers).begin(body.directory).catch(refused);
    if (report === null)
      throw new HttpProblem('ALREADY_EXISTS', 'Another backup is being written. Wait until it is done.');
    return reply(202, report);
  }

  @Operate('getBackup')
  async read(@OperationCall() _: Call<'getBackup'>, @Headers() headers: IncomingHttpHeaders): Promise<Reply> {
    const report = this.known(headers).latest();
    if (report === null) throw new HttpProblem('NOT_FOUND', 'This process has begun no backup.');
    return reply(200, report);
  }

  /** A path is one of the machine of the process: who is elsewhere does not choose it. */
  private known(headers: IncomingHttpHeaders): Backups {
    if (this.backups === null)
      throw new HttpProblem('NOT_FOUND', 'A cluster is backed up in MongoDB: docs/how-to/back-up-a-cluster.md');
    if (!isFromHere(headers))
      throw new HttpProblem('FORBIDDEN', 'A backup is begun on the machine of the process, over its loopback address.');
    return this.backups;
  }
}

function refused(error: unknown): never {
  if (error instanceof TargetRefused) throw invalidAt('/directory', error.message);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) throw error;
  const detail = `Nothing can be written there (${code ?? 'no code'}).`;
  throw invalidAt('/directory', detail, detail, error);
}
