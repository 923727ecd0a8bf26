import { describe, expect, it } from 'vitest';
import { isErrorResult, opensSubscription, resultContent, unreadableResultText } from './tool-result.ts';

const image = { type: 'image' as const, data: 'aGk=', mediaType: 'image/png' };
const text = (words: string) => ({ type: 'text' as const, text: words });

describe('tool result', () => {
  it('R44 content wins over text', () => {
    expect(resultContent({ text: 'short', content: [text('long'), image] })).toStrictEqual([text('long'), image]);
  });

  it('R44 text stands in when no item of the content is known', () => {
    expect(resultContent({ text: 'short', content: [] })).toStrictEqual([text('short')]);
    expect(resultContent({ content: [] })).toStrictEqual([text(unreadableResultText)]);
    expect(resultContent({ text: '' })).toStrictEqual([text('')]);
  });

  it('an error starts with "Error: ", in the text that the model gets', () => {
    expect(isErrorResult({ text: 'Error: no such city' })).toBe(true);
    expect(isErrorResult({ text: 'Error handling is on' })).toBe(false);
    expect(isErrorResult({ text: 'Error: old', content: [image, text('fine')] })).toBe(false);
    expect(isErrorResult({ content: [image, text('Error: blurred')] })).toBe(true);
    expect(isErrorResult({ content: [image] })).toBe(false);
  });

  it('R69 an error opens no subscription, whatever its flag says', () => {
    expect(opensSubscription({ text: 'Subscribed', subscription: true })).toBe(true);
    expect(opensSubscription({ text: 'Error: no such repository', subscription: true })).toBe(false);
    expect(opensSubscription({ text: 'Subscribed', subscription: false })).toBe(false);
  });
});
