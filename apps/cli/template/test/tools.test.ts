// Drives the tools as a runtime does, without one: `npm test`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestRuntime, type TestRuntime } from '@dormouse/tool-server/testing';
import { tools } from '../src/tools.js';

let runtime: TestRuntime;
before(async () => {
  runtime = await startTestRuntime({ name: 'stocks', tools });
});
after(() => runtime.close());

test('quote gives a price, and says which stocks there are', async () => {
  const known = await (await runtime.call('quote', { symbol: 'ACME' })).result();
  assert.match(known.text, /^ACME is at \$\d+\.$/);
  const unknown = await (await runtime.call('quote', { symbol: 'NONE' })).result();
  assert.equal(unknown.isError, true);
  assert.match(unknown.text, /there are ACME, INITECH/);
});

test('watch_price confirms at once, and sends an event when the limit is passed', async () => {
  const call = await runtime.call('watch_price', { symbol: 'INITECH', above: 46, everyMs: 10 });
  assert.equal((await call.result()).subscribed, true);
  const event = await call.event();
  assert.match(event.text, /INITECH is at \$47, above \$46/);
  assert.equal(event.final, true);
});

test('sell_all is destructive, so that a person is asked first', async () => {
  const sellAll = tools.find(({ name }) => name === 'sell_all');
  assert.equal(sellAll?.annotations.destructive, true);
  const call = await runtime.call('sell_all', { symbol: 'ACME' });
  assert.equal((await call.result()).text, 'All shares of ACME are sold.');
});

test('buy asks how many', async () => {
  const call = await runtime.call('buy', { symbol: 'ACME' });
  const question = await call.question();
  assert.equal(question.prompt, 'Buy ACME?');
  await question.answer('10 of ACME');
  assert.equal((await call.result()).text, 'Bought 10 of ACME.');
});
