// What accepting a callback needs, whatever its type: a message that was judged, and how its input becomes durable.
// The numbers C are those at the head of callback-gateway.ts.
import { type Steps, shortJsonCharacters } from '@dormouse/json';
import { hash } from 'node:crypto';
import type { BusInput, Clock, Entropy, Sealer, Stores } from '@dormouse/ports';
import { idCharactersMax, type Callback } from '@dormouse/protocol';
import type { CallbackRequest } from '../callback-body.ts';
import type { CallbackScope } from '../callback-token.ts';
import { inTurnsIf } from '../../in-turns.ts';
import { dividingResult, storeBlobs, type CleanResult, type DividedResult } from '../result-content.ts';

/** `idempotency`: where answers of trials wait. */
export interface AcceptanceDeps extends Pick<Stores, 'inputs' | 'blobs' | 'logins' | 'idempotency'> {
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

export interface Acceptance {
  readonly deps: AcceptanceDeps;
  readonly settings: {
    /** Payload of one result that is kept in the log itself. */
    readonly inlineBytesMax: number;
    /** How long a person may take to log in, and to choose. */
    readonly loginDeadlineMs: number;
    readonly choiceDeadlineMs: number;
  };
  readonly scope: CallbackScope;
  readonly request: CallbackRequest;
  /** Makes the input durable unless it is known to be. (callback-gateway C1, C2) */
  readonly publish: (id: string, make: () => Promise<BusInput>) => Promise<void>;
}

export type CallbackOf<Type extends Callback['type']> = Extract<Callback, { type: Type }>;

export const isLong = ({ body }: CallbackRequest): boolean => body.length > shortJsonCharacters;

/** Megabytes are worked on step by step. (callback-gateway C6) */
export const taking = async <Result>(request: CallbackRequest, steps: Steps<Result>): Promise<Result> =>
  inTurnsIf(isLong(request), steps);

/** Resolves when what the input will refer to is durable. */
export async function storing(message: Acceptance, clean: CleanResult): Promise<DividedResult> {
  const { deps, settings, scope, request } = message;
  const divided = await taking(request, dividingResult(clean, settings.inlineBytesMax));
  if (divided.blobs.length > 0) await storeBlobs(deps.blobs, scope, divided.blobs);
  return divided;
}

/** The message's name, or without one the hash of its question, for the thread to compare. (callback-gateway C8) */
export function namesOf({ deps, request }: Acceptance, asked: string): { message: string; question: string | null } {
  const messageId = messageIdOf(request);
  return messageId === null
    ? { message: deps.entropy.nonce(), question: hashOf(asked) }
    : { message: hashOf(messageId), question: null };
}

/** The sender's own id for a message, in the headers that webhooks use. Not in RAP: see SPEC.md. */
export function messageIdOf({ headers }: CallbackRequest): string | null {
  for (const name of ['webhook-id', 'idempotency-key']) {
    const value = headers[name];
    if (typeof value === 'string' && value.length > 0 && value.length <= idCharactersMax) return value;
  }
  return null;
}

export const hashOf = (body: Uint8Array | string): string => hash('sha256', body).slice(0, 32);
