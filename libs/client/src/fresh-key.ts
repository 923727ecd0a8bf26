/** 128 random bits in hexadecimal. `crypto.randomUUID` is missing in pages without TLS. */
export const freshKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
