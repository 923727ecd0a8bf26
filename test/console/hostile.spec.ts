// Hostile content everywhere a stranger's words are shown: no script runs, nothing is asked of another host, and the
// policy of the page is never needed.
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs, type Watched } from './browser.ts';
import { scripted, talked } from './conversations.ts';

const system = consoleSpecs(startStandalone);

const host = 'https://attacker.example';
/** Each would set `window.hit`, or ask the host, where it was taken for a page. */
const corpus: readonly string[] = [
  `<script>window.hit = 1</script>`,
  `<img src=x onerror="window.hit=1">`,
  `<img src="${host}/a.png" srcset="${host}/b.png 2x">`,
  `![a picture](${host}/c.png)`,
  `<svg onload="window.hit=1"><script>window.hit=1</script><image href="${host}/d.png"/></svg>`,
  `<svg><animate onbegin="window.hit=1" attributeName=x dur=1s></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hit=1&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=window.hit=1>`,
  `<iframe src="${host}/e" srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `<object data="${host}/f"></object><embed src="${host}/g"><applet code=x>`,
  `<link rel=stylesheet href="${host}/h.css"><style>@import "${host}/i.css"; body{background:url(${host}/j)}</style>`,
  `<div style="background:url(${host}/k)">styled</div>`,
  `<a href="javascript:window.hit=1">click</a> [click](javascript:window.hit=1) [click](JaVaScRiPt:window.hit=1)`,
  `[click](data:text/html,<script>window.hit=1</script>) [click](vbscript:x)`,
  `<a href="&#106;avascript:window.hit=1">entity</a>`,
  `<base href="${host}/"><meta http-equiv=refresh content="0;url=${host}/l">`,
  `<form action="${host}/m"><input name=q autofocus onfocus="window.hit=1"><button>send</button></form>`,
  `<video poster="${host}/n.png" src="${host}/n.mp4" autoplay onloadstart="window.hit=1"></video><audio src="${host}/o" autoplay>`,
  `<details open ontoggle="window.hit=1"><summary>x</summary></details>`,
  `<template><img src=x onerror="window.hit=1"></template><noscript><img src=x onerror="window.hit=1"></noscript>`,
  `<input type=image src="${host}/p"><table background="${host}/q"><tr><td background="${host}/r"></table>`,
  `<a id="location" name="body">clobbered</a><img name="getElementById"><form id="document" name="cookie">`,
  `"><script>window.hit=1</script>`,
  `\`\`\`html\n<script>window.hit=1</script>\n\`\`\``,
  `<x-element onclick="window.hit=1" tabindex=0 onfocus="window.hit=1" autofocus>custom</x-element>`,
  `{{constructor.constructor('window.hit=1')()}} \${window.hit=1}`,
  `\u202Etxt.exe\u202C \u2066hidden\u2069 \u200Bzero\u200B`,
  `<![CDATA[<script>window.hit=1</script>]]><!--><script>window.hit=1</script>-->`,
];

async function expectHarmless({ page, complaints }: Watched): Promise<void> {
  await page.waitForTimeout(500); // pictures and frames would have been asked for by now
  expect(await page.evaluate(() => (globalThis as unknown as { hit?: number }).hit)).toBeUndefined();
  expect(complaints).toEqual([]);
  expect(
    await page
      .locator(
        'main iframe, main object, main embed, main form[action], main style, main link, main meta, main video, main audio',
      )
      .count(),
  ).toBe(0);
  const links = await page
    .locator('main a[href]')
    .evaluateAll((all) => all.map((link) => (link as unknown as { protocol: string }).protocol));
  expect(links.filter((protocol) => !['http:', 'https:', 'mailto:'].includes(protocol))).toEqual([]);
}

describe('hostile content', () => {
  it('of a model is text or sanitised Markdown', async () => {
    const thread = await scripted(
      system.runtime,
      'hostile-model',
      [[{ reasoning: corpus.join('\n') }, { text: corpus.join('\n\n') }]],
      corpus.join('\n\n'),
    );
    const watched = await system.open(`/threads/${thread}`);
    await watched.page.locator('.markdown').first().waitFor();
    await watched.page.getByText('Reasoning').first().click();
    for (const event of [3, 6]) {
      await watched.page.goto(`${system.runtime.url}/threads/${thread}?p=${event}`);
      await watched.page.locator('.event-details .json').waitFor();
      await expectHarmless(watched);
    }
    expect(await watched.page.locator('.markdown script, .markdown [onerror], .markdown [style]').count()).toBe(0);
    const foreign = watched.page.locator('.markdown a[href^="https://attacker.example"]').first();
    expect(await foreign.getAttribute('rel')).toContain('noreferrer');
  });

  it('piece by piece', async () => {
    const script = corpus.map((text) => [{ text }]);
    const thread = await scripted(system.runtime, 'hostile-pieces', script, corpus[0]);
    for (const text of corpus.slice(1)) {
      const sent = await system.runtime.request(
        'POST',
        `/v1/threads/${thread}/messages`,
        { text },
        { headers: { prefer: 'wait=30' } },
      );
      expect(sent.status).toBe(200);
    }
    const watched = await system.open(`/threads/${thread}`);
    await watched.page.locator('.markdown').first().waitFor();
    const place = watched.page.getByLabel('Messages');
    for (let page = 0; page < 12; page += 1) {
      await place.press('PageUp');
      await watched.page.waitForTimeout(60);
    }
    await expectHarmless(watched);
  });

  it('of tools: results, segments, arguments and names of calls', async () => {
    const calls = corpus
      .slice(0, 12)
      .map((text) => ({ tool_call: { name: 'weather', arguments: { city: text.slice(0, 90) } } }));
    const thread = await scripted(system.runtime, 'hostile-tools', [
      calls,
      [{ tool_call: { name: '<img src=x onerror=window.hit=1>', arguments: {} } }],
    ]);
    const watched = await system.open(`/threads/${thread}?tab=calls`);
    await watched.page.locator('.call').first().waitFor();
    for (const toggle of await watched.page.locator('.call-toggle').all()) await toggle.click();
    for (const summary of await watched.page.locator('.call-summary summary').all()) await summary.click();
    await expectHarmless(watched);
  });

  it('of names, titles, labels, agents and errors', async () => {
    const { runtime } = system;
    const hostile = corpus.slice(0, 6).join(' ').slice(0, 480);
    const thread = await talked(runtime, 'What is the weather in Oslo?');
    await runtime.request('PATCH', `/v1/threads/${thread}`, {
      title: hostile,
      metadata: { '<b onclick=1>': hostile },
    });
    await runtime.request('POST', '/v1/threads', {
      agent: 'assistant',
      user_id: '<img src=x onerror=window.hit=1>',
      external_id: '"><script>window.hit=1</script>',
      title: hostile,
    });
    await runtime.request('POST', '/v1/agents', {
      name: 'hostile',
      instructions: corpus.join('\n'),
      model: { provider: 'demo', parameters: { '<script>': hostile } },
    });
    await runtime.request('POST', '/v1/agents', {
      name: 'hostile',
      instructions: hostile,
      model: { provider: 'demo' },
    });
    const watched = await system.open('/threads');
    for (const path of [
      '/threads',
      `/threads/${thread}?tab=about`,
      '/agents',
      '/agents/hostile',
      '/agents/hostile?version=2&against=1',
      '/waiting',
      '/threads/%3Cscript%3Ewindow.hit=1',
      '/agents/%3Cimg%20src=x%20onerror=window.hit=1%3E',
      '/nowhere/%22%3E%3Cscript%3E',
    ]) {
      await watched.page.goto(runtime.url + path);
      await watched.page.locator('main h1, main h2, main .failed').first().waitFor();
      await expectHarmless(watched);
    }
  });

  it('that turns text round or hides is shown by its number', async () => {
    const thread = await scripted(system.runtime, 'hidden', [
      [{ tool_call: { name: 'weather', arguments: { city: 'a\u202Eb\u200Bc' } } }],
    ]);
    const { page } = await system.open(`/threads/${thread}`);
    await page.getByText('a⟨202E⟩b⟨200B⟩c').first().waitFor();
  });
});
