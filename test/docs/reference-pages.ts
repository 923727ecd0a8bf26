// The pages of docs/reference that are made from the code, by path.
import { openApiDocument } from '@dormouse/host';

/** A version of its own: a release alone changes nothing here. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument('0.0.0'), null, 2)}\n`;

export const referencePages = (): Readonly<Record<string, string>> => ({
  'docs/reference/openapi.json': openApiText(),
});
