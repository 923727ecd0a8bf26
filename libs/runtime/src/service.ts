// What every service is to its host: something that starts, and stops in order.
export interface Service {
  /** Resolves when the service works: joined, stores reachable. */
  start(): Promise<void>;
  /** Takes nothing new, drains at most `withinMs`, resolves when nothing of it will touch a store again. */
  stop(withinMs: number): Promise<void>;
}
