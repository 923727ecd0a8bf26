// A service of ours as a transport of NestJS microservices: Nest starts and stops it and nothing more. The consumers, their
// lanes, commits and pauses are the adapter's; no message passes through Nest.
import type { Service } from '@dormouse/runtime';
import { type CustomTransportStrategy, Server } from '@nestjs/microservices';

export class ServiceStrategy extends Server implements CustomTransportStrategy {
  private readonly services: readonly Service[];
  private readonly stopWithinMs: number;

  constructor(services: readonly Service[], stopWithinMs: number) {
    super();
    this.services = services;
    this.stopWithinMs = stopWithinMs;
  }

  listen(listening: (error?: unknown) => void): void {
    this.start().then(
      () => listening(),
      (error: unknown) => listening(error),
    );
  }

  async close(): Promise<void> {
    const deadline = performance.now() + this.stopWithinMs;
    for (const service of this.services) await service.stop(Math.max(0, deadline - performance.now()));
  }

  on(): never {
    throw new Error('this transport has no events');
  }

  unwrap<T>(): T {
    throw new Error('this transport has no native server');
  }

  private async start(): Promise<void> {
    for (const service of this.services) await service.start();
  }
}
