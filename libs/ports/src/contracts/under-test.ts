// What every suite of a store requires of the adapter under test.
import { afterAll } from 'vitest';

/** An opened adapter: the port, and how to end it. */
export type UnderTest<Port> = {
  readonly port: Port;
  close(): Promise<void>;
  /** For stores that outlive their process: closes and opens the same data again. */
  reopen?(): Promise<UnderTest<Port>>;
};

export interface Opened<Port> {
  get(): Promise<Port>;
  /** Null when the store does not outlive its process. */
  reopened(): Promise<Port | null>;
}

/** Opens one store for all tests of a suite: every test uses names of its own. */
export function openedOnce<Port>(make: () => Promise<UnderTest<Port>>): Opened<Port> {
  let opened: UnderTest<Port> | null = null;
  afterAll(async () => opened?.close());
  return {
    get: async () => (opened ??= await make()).port,
    reopened: async () => {
      opened ??= await make();
      if (!opened.reopen) return null;
      opened = await opened.reopen();
      return opened.port;
    },
  };
}
