// Input buses that deliver something else than was published.
import type { InputConsumer, InputDelivery, ThreadDelivery } from '@dormouse/ports';
import { Hold } from '@dormouse/runtime';
import type { MutantContext } from '../mutant.ts';

/** The deliveries to every input consumer of a process, changed on the way. */
export const delivering = (change: (delivery: ThreadDelivery) => ThreadDelivery | null) => (context: MutantContext) => {
  const { ports } = context;
  const inputs: typeof ports.inputs = {
    ...ports.inputs,
    consume: (consumer: InputConsumer) =>
      ports.inputs.consume({
        assigned: (assignment) => consumer.assigned(assignment),
        revoked: (assignment) => consumer.revoked(assignment),
        busy: () => consumer.busy(),
        deliver: (assignment, delivery) => {
          const changed = change(delivery);
          if (changed !== null) consumer.deliver(assignment, changed);
        },
      }),
  };
  return { ...ports, inputs };
};

/** The same delivery, released at another time; once. */
export function releasing(
  delivery: ThreadDelivery,
  when: (release: () => void) => Partial<InputDelivery>,
): ThreadDelivery {
  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    delivery.release();
  };
  return Object.assign({ ...delivery }, { release }, when(release));
}

/** Releases what a completion holds, while it runs. */
export function releaseHeld(run: { hold: Hold } | null): void {
  if (run === null) return;
  const { hold } = run;
  run.hold = new Hold();
  hold.drop();
}
