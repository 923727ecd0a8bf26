// A real server for tests: where it comes from, and how a test may damage it.
import type { Certificate } from './certificates.ts';

export interface RunningService {
  /** What a client connects to: `host:port` of a broker, or a URL. */
  readonly url: string;
  /** Of a server that was started here; none of one given from outside or in a container. */
  readonly pids: () => readonly number[];
  /** The compose project it is in, if it is in a container. */
  readonly project?: string;
  stop(): Promise<void>;
  /** Starts it again on the same port and data, after `kill`; one that was built also after `stop`. */
  restart(): Promise<void>;
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export type Started =
  | { readonly available: true; readonly service: RunningService }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

export interface StartOptions {
  /** Data and output of this one server; made if missing. */
  readonly directory: string;
  /** What is built once per machine lives here, outside every repository. */
  readonly cache: string;
  readonly say: (line: string) => void;
  /** The port that clients are to use, where a proxy stands between them and the server. */
  readonly advertisedPort?: number;
  /** Started here even when one is given: it is going to be damaged. */
  readonly own?: true;
  /** Never in a container: its data is in `directory`, and stays there. */
  readonly built?: true;
}

/** Clients that a server accepts: all, or those with all of these credentials. */
export interface Guard {
  /** A user and a password, without characters that a URL has to encode. */
  readonly login?: { readonly user: string; readonly password: string };
  /** The server shows `certificate`, and wants one that the authority of this file has signed. */
  readonly tls?: { readonly certificate: Certificate; readonly authorityFile: string };
}

export interface ServiceRecipe {
  readonly name: 'kafka' | 'mongo' | 'redis';
  /** Environment variable that names a server given from outside. */
  readonly variable: string;
  /** Files of the directory that its processes print into. */
  readonly outputs: readonly string[];
  start(options: StartOptions): Promise<Started>;
}

/** A server that is needed is not available here. */
export class ServerMissing extends Error {
  override readonly name = 'ServerMissing';
}

/** A server run by others: it is used, and never signalled. */
export function givenService(url: string): Started {
  const refuse = (): never => {
    throw new Error(`${url} was given from outside: it cannot be stopped from here`);
  };
  return {
    available: true,
    service: { url, pids: () => [], stop: async () => {}, restart: async () => refuse(), kill: refuse },
  };
}
