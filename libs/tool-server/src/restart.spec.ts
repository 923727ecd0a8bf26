import { describe, expect, it } from 'vitest';
import { later, temporaryFolder } from './spec/bench.ts';
import { type CallbackSink, eventually, quiet, startSink } from './spec/callback-sink.ts';
import { type Child, start } from './spec/child-server.ts';

async function rig(): Promise<{ sink: CallbackSink; dataDir: string }> {
  const sink = await startSink();
  later(sink.close);
  return { sink, dataDir: await temporaryFolder() };
}

/** Answers the n-th message, a question, at the server that has its address now. */
async function answerQuestion(at: Child, sink: CallbackSink, index: number, body: unknown): Promise<number> {
  const question = JSON.parse(sink.delivered[index]?.body ?? '') as { readonly response_url: string };
  return (await at.post(new URL(question.response_url).pathname, body)).status;
}

const textsOf = (sink: CallbackSink): unknown[] =>
  sink.delivered.map(({ body }) => (JSON.parse(body) as Record<string, unknown>)['text']);

describe('a process that is killed', () => {
  it('T11 T26 leaves no call without an end: error, or the work again where the tool allows it', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    const [lost, redone] = [
      await first.invoke('work', { ms: 60_000 }),
      await first.invoke('again', { ms: 60_000 }, { call_id: 'p_1' }),
    ];
    await eventually(() => first.printed().includes(lost) && first.printed().includes(redone), 'both calls');
    await first.kill();
    const second = await start(dataDir, sink);
    expect((await sink.resultOf(lost)).text).toMatch(
      /^Error: the tool server was restarted while this call was running/,
    );
    expect(await sink.resultOf(redone)).toMatchObject({ text: 'run 2', callId: 'p_1' });
    expect(second.printed()).not.toContain(`began ${lost}`); // only tools that declare it run twice
    await second.invoke('work', { ms: 60_000 }, { id: lost }); // the runtime repeats its POST
    await sink.until(3);
    await quiet();
    expect(sink.delivered.length).toBe(3);
    expect(sink.delivered[2]?.body).toBe(sink.delivered.find(({ body }) => body.includes(lost))?.body);
    expect(second.printed()).not.toContain(`began ${lost}`);
  });

  it('T15 T26 leaves its messages to the next one, with the same bytes', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    sink.answers.push(...Array.from({ length: 3 }, () => 503));
    await first.invoke('work');
    await sink.until(1);
    await first.kill();
    const before = sink.delivered.length;
    await start(dataDir, sink);
    await sink.until(before + 1);
    await eventually(() => sink.answers.length === 0 && sink.delivered.length >= 4, 'the delivery');
    expect(new Set(sink.delivered.map((each) => each.body)).size).toBe(1);
    expect(new Set(sink.delivered.map((each) => each.headers['idempotency-key'])).size).toBe(1);
  });

  it('T26 T27 keeps its subscriptions; those that nobody resumes end with a word', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    await first.ask('tick');
    const streaming = await first.invoke('stream', { ms: 60_000 });
    await eventually(() => first.printed().includes(streaming), 'the stream');
    await sink.until(3);
    await first.kill();
    await start(dataDir, sink);
    await eventually(() => textsOf(sink).includes('resumed'), 'the event of the next process');
    const events = (): Record<string, unknown>[] =>
      sink.delivered.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    await eventually(() => events().some((each) => each['final'] === true), 'the end of the stream');
    expect(events().find((each) => each['final'] === true)).toMatchObject({
      type: 'subscription_event',
      tool_call_id: streaming,
      associative: true,
      text: expect.stringMatching(/^Error: the tool server was stopped/),
    });
  });

  it('T26 T43 goes on with its questions where the tool allows it: asked once each, answered before or after', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    const id = await first.invoke('deploy', { ms: 100 });
    await sink.until(1);
    expect(await answerQuestion(first, sink, 0, { id, selected: 0 })).toBe(200);
    await sink.until(2);
    await quiet(); // the server has read that both were accepted
    await first.kill();
    const second = await start(dataDir, sink);
    await quiet();
    expect(sink.delivered.length).toBe(2); // neither is asked again
    expect(await answerQuestion(second, sink, 0, { id, selected: 1 })).toBe(200); // the first answer stays
    expect(await answerQuestion(second, sink, 1, { id, selected: 1 })).toBe(200);
    expect((await sink.resultOf(id)).text).toBe('Yes, No');
    expect(second.printed().match(new RegExp(`began ${id}`, 'g'))).toHaveLength(1);
    expect(await answerQuestion(second, sink, 1, { id, selected: 0 })).toBe(200);
    expect(sink.delivered.length).toBe(3);
  });

  it('T26 T43 does not repeat what came after the answers, and says so when nobody can take an answer any more', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    const working = await first.invoke('deploy', { ms: 60_000 });
    await sink.until(1);
    await answerQuestion(first, sink, 0, { id: working, selected: 0 });
    await sink.until(2);
    await answerQuestion(first, sink, 1, { id: working, selected: 0 });
    await eventually(() => first.printed().includes(`began ${working}`), 'the work');
    const asking = await first.invoke('careful');
    await sink.until(3);
    await first.kill();
    const second = await start(dataDir, sink);
    expect((await sink.resultOf(working)).text).toMatch(
      /^Error: the tool server was restarted while this call was running/,
    );
    expect((await sink.resultOf(asking)).text).toMatch(
      /^Error: the tool server was restarted while this call waited for a person/,
    );
    expect(await answerQuestion(second, sink, 2, { id: asking, selected: 0 })).toBe(200); // too late, and harmless
    expect(second.printed()).not.toContain('began');
  });

  it('T11 T26 in the middle of many calls loses none of those that were acknowledged', async () => {
    const { sink, dataDir } = await rig();
    const first = await start(dataDir, sink);
    const acknowledged: string[] = [];
    const flood = Array.from({ length: 60 }, async (_, index) => {
      acknowledged.push(await first.invoke('work', { ms: index % 3 === 0 ? 60_000 : 0 }, { group_id: `thr_${index}` }));
    });
    const settled = Promise.allSettled(flood);
    await eventually(() => acknowledged.length >= 20, 'some calls');
    await first.kill();
    await settled;
    await start(dataDir, sink);
    for (const id of acknowledged) await sink.resultOf(id);
    const perCall = Map.groupBy(sink.delivered, ({ body }) => (JSON.parse(body) as { id: string }).id);
    for (const messages of perCall.values()) expect(new Set(messages.map((each) => each.body)).size).toBe(1);
  });
});
