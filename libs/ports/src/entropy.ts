// Randomness, as an argument: nonces and jitter. The simulator seeds it.
export interface Entropy {
  /** A fresh value that nobody else has; 128 bits or more, URL-safe. */
  nonce(): string;
  /** Uniform in [0, 1), for jitter. */
  fraction(): number;
}
