// The contents of a thread, or those that it inherits, are being erased: its log says so, and the thread forgets them.
import type { Draft } from '../draft.ts';
import { text } from '../content.ts';
import type { ContentErasure } from '../input.ts';
import { endThread } from './closing.ts';

/** A thread whose own contents go is closed before; one that inherits them goes on. */
export function eraseContent(draft: Draft, { id, scope, certificate }: ContentErasure): void {
  if (scope !== 'inherited' && draft.thread.status !== 'closed')
    endThread(draft, id, [text('The thread was closed, and its contents were erased.')]);
  draft.emit({ type: 'ContentErased', scope, certificate });
}
