// What a thread is asked to do: taken with 202, and carried out or refused by the thread.
import type { Ingress } from '@dormouse/runtime';
import type { Call } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

type ThreadCall = Pick<Call, 'tenant' | 'origin'> & { readonly params: { readonly id: string } };

export async function askThread(
  { requests }: Pick<Ingress, 'requests'>,
  { tenant, params, origin }: ThreadCall,
  request: Parameters<Ingress['requests']['post']>[1],
): Promise<Reply> {
  return reply(202, unwrap(await requests.post({ tenant, thread: params.id }, request, origin)));
}
