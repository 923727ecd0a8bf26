// How many spans an OTLP request has, read from its protobuf without a schema: resource_spans (1), scope_spans (2),
// spans (2). Everything else is skipped by its length.

const bytesField = 2;
const path = [1, 2, 2] as const;

/** @throws RangeError for bytes that are no such message. */
export const spansIn = (request: Uint8Array): number => countAt(request, 0, request.length, 0);

function countAt(bytes: Uint8Array, from: number, end: number, depth: number): number {
  let count = 0;
  for (let at = from; at < end;) {
    const tag = varint(bytes, at);
    const wire = tag.value & 7;
    at = tag.next;
    if (wire === 0) at = varint(bytes, at).next;
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === bytesField) {
      const length = varint(bytes, at);
      const wanted = tag.value >>> 3 === path[depth];
      if (wanted)
        count += depth === path.length - 1 ? 1 : countAt(bytes, length.next, length.next + length.value, depth + 1);
      at = length.next + length.value;
    } else throw new RangeError(`wire type ${wire}`);
  }
  return count;
}

function varint(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = from, factor = 1; ; at += 1, factor *= 128) {
    const byte = bytes[at];
    if (byte === undefined) throw new RangeError('the bytes end inside a number');
    value += (byte & 127) * factor;
    if (byte < 128) return { value, next: at + 1 };
  }
}
