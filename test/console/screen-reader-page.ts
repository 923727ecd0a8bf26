// What `screen-reader.ts` puts into a page.
import { virtual } from '@guidepup/virtual-screen-reader';

Object.assign(globalThis, { screenReader: virtual });
