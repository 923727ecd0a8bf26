import { expect, it } from 'vitest';
import { createHint } from './hint.ts';

it('names a command with the flags that this call was given, quoted for a shell', () => {
  expect(createHint({})('chat thr_1')).toBe('npx @dormouse/cli chat thr_1');
  expect(createHint({ url: 'http://127.0.0.1:7430', data: "/tmp/a dir/o'clock" })('why thr_1')).toBe(
    `npx @dormouse/cli why thr_1 --url http://127.0.0.1:7430 --data '/tmp/a dir/o'\\''clock'`,
  );
  expect(createHint({ profile: 'staging' })('chat')).toBe('npx @dormouse/cli chat --profile staging');
});
