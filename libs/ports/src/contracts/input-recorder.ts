// A consumer for the contract suites: it records its deliveries, and decides only when a test says so.
import type {
  Assignment,
  InputConsumer,
  InputDelivery,
  RecoveryDelivery,
  ThreadDelivery,
  ThreadKey,
} from '../index.ts';

export interface Received {
  readonly assignment: Assignment;
  readonly delivery: ThreadDelivery;
}

export interface InputRecorder extends InputConsumer {
  readonly received: Received[];
  readonly assigned: (assignment: Assignment) => void;
  readonly assignments: Assignment[];
  readonly revocations: Assignment[];
  /** Ids of the inputs of a thread, or of all, in order of delivery. */
  ids(key?: ThreadKey): string[];
  inputs(key?: ThreadKey): InputDelivery[];
  recoveries(key?: ThreadKey): RecoveryDelivery[];
  full: boolean;
  /** Called for each delivery after it was recorded. */
  onDelivery: (delivery: ThreadDelivery) => void;
}

export function createInputRecorder(onDelivery: (delivery: ThreadDelivery) => void = () => undefined): InputRecorder {
  const received: Received[] = [];
  const of = (key?: ThreadKey): ThreadDelivery[] =>
    received
      .map(({ delivery }) => delivery)
      .filter((delivery) => !key || (delivery.tenant === key.tenant && delivery.thread === key.thread));
  const recorder: InputRecorder = {
    received,
    assignments: [],
    revocations: [],
    full: false,
    onDelivery,
    ids: (key) => recorder.inputs(key).map((delivery) => delivery.input.id),
    inputs: (key) => of(key).filter((delivery) => delivery.what === 'input'),
    recoveries: (key) => of(key).filter((delivery) => delivery.what === 'recovery'),
    assigned: (assignment) => void recorder.assignments.push(assignment),
    revoked: async (assignment) => void recorder.revocations.push(assignment),
    deliver: (assignment, delivery) => {
      received.push({ assignment, delivery });
      recorder.onDelivery(delivery);
    },
    busy: () => recorder.full,
  };
  return recorder;
}
