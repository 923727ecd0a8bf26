import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Fault } from '../world/fault.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';

const parts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.integer()), { maxLength: 5 });

it('holds every list of texts and numbers, and stands in a query as it is', () => {
  fc.assert(
    fc.property(parts, (list) => {
      const cursor = encodeCursor(list);
      expect(decodeCursor(cursor)).toEqual(list);
      expect(new URLSearchParams(`cursor=${cursor}`).get('cursor')).toBe(cursor);
    }),
  );
});

it('refuses every other text with CURSOR_INVALID', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('~', '~7', '%', '~C3~28', '{}', '7', '')),
      (text) => {
        try {
          expect(decodeCursor(text)).toBeInstanceOf(Array);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect(error).toMatchObject({ code: 'CURSOR_INVALID' });
        }
      },
    ),
  );
});
