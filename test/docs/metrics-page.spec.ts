import { expect, it } from 'vitest';
import { readDocument } from './document.ts';
import { metricsPage, metricsPagePath } from './metrics-page.ts';

it('G1 the page of the metrics is that of the table', () => {
  expect(readDocument(metricsPagePath).text).toBe(metricsPage());
});
