// A cipher for simulations and specs: it encrypts nothing, hides texts from a search for them, and opens only with the
// key that sealed and for the place that was sealed for.
import type { ContentCipher, ContentKey } from '@dormouse/ports';

let made = 0;

/** Keys of the same bytes are equal. */
class PlainKey implements ContentKey {
  readonly bytes: readonly number[];

  constructor(bytes: Uint8Array) {
    this.bytes = [...bytes];
  }

  sealText(place: string, text: string): string {
    return Buffer.from(JSON.stringify([this.bytes.join(), place, text])).toString('base64');
  }

  openText(place: string, sealed: string): string {
    const [withKey, forPlace, text] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as readonly string[];
    if (withKey !== this.bytes.join() || forPlace !== place || text === undefined) throw new Error('does not open');
    return text;
  }

  sealBytes(place: string, content: Uint8Array): Uint8Array {
    return Buffer.from(this.sealText(place, Buffer.from(content).toString('base64')));
  }

  openBytes(place: string, sealed: Uint8Array): Uint8Array {
    return Buffer.from(this.openText(place, Buffer.from(sealed).toString()), 'base64');
  }
}

export const plainCipher: ContentCipher = {
  newKey: () => Buffer.from(String((made += 1))),
  withKey: (bytes) => new PlainKey(bytes),
};
