// Hands on what a handler of records threw as it was: the bus decides what follows. Nest's own filter would replace it
// by a text.
import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';

@Catch()
export class PassOnFilter implements RpcExceptionFilter {
  catch(thrown: unknown): Observable<never> {
    return throwError(() => thrown);
  }
}
