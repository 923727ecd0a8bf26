// What wraps the master keys of an installation, so that neither settings nor files have them in the clear.
//
// Contract (contracts/key-management.contract.ts):
//   M1. What was wrapped unwraps to the same bytes, in every process that may use the same key of the same service.
//   M2. A wrapped key is one word without a comma or `@`: several of them are one setting.
//   M3. A text that is no wrapped key of this service is refused, and nothing of it is repeated.

export interface KeyManagement {
  /** Names the key that wraps, for people. */
  readonly keyId: string;
  /** @throws Fault KMS_REFUSED, UNAVAILABLE */
  wrap(key: Uint8Array): Promise<string>;
  /** @throws Fault KMS_REFUSED, UNAVAILABLE */
  unwrap(wrapped: string): Promise<Uint8Array>;
}
