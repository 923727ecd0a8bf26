// The button that ends a subscription, in the thread's own list and in that of all threads.
import type { ReactElement } from 'react';
import { api, ask } from '../../api/client.ts';
import { RequestButton } from '../../elements/request-button.tsx';

export function CancelSubscription(props: {
  readonly thread: string;
  readonly call: string;
  readonly isDisabled?: boolean;
}): ReactElement {
  const { thread, call, isDisabled = false } = props;
  return (
    <RequestButton
      label="Cancel"
      done="The subscription is cancelled"
      isDisabled={isDisabled}
      request={() =>
        ask(api.POST('/v1/threads/{id}/subscriptions/{call}/cancel', { params: { path: { id: thread, call } } }))
      }
    />
  );
}
