// Randomness, as an argument: nonces and jitter. The simulator seeds it.
export interface Entropy {
  /** A fresh, unique value; 128 bits or more, URL-safe. */
  nonce(): string;
  /** Uniform in [0, 1), for jitter. */
  fraction(): number;
}
