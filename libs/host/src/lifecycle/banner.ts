// What a person sees when it is up: where it is, where the key is, what to type next. The last line is for programs.
import type { SeededKey } from './standalone-seed.ts';

export interface Running {
  readonly url: string;
  readonly dataDir: string;
  readonly key: SeededKey;
  readonly toolsUrl: string | null;
}

export function bannerText({ url, dataDir, key, toolsUrl }: Running): string {
  const lines = [
    '',
    `  Dormouse is up at ${url}`,
    `  data   ${dataDir}`,
    `  key    ${key.file}${key.isNew ? `   (${key.key}; printed this once)` : ''}`,
    ...(toolsUrl === null ? [] : [`  tools  ${toolsUrl}   (examples; the agent "assistant" uses them)`]),
    '',
    '  Say something:',
    ...(toolsUrl === null ? [`    curl ${url}/openapi.json`] : conversation(url, key.file)),
    '',
    `ready ${url}`,
  ];
  return `${lines.join('\n')}\n`;
}

function conversation(url: string, keyFile: string): readonly string[] {
  const auth = `-H "Authorization: Bearer $(cat ${keyFile})" -H 'Content-Type: application/json'`;
  return [
    `    THREAD=$(curl -s ${url}/v1/threads ${auth} -d '{"agent":"assistant"}' | sed 's/.*"id":"\\(thr_[^"]*\\)".*/\\1/')`,
    `    curl -s ${url}/v1/threads/$THREAD/messages ${auth} -H 'Prefer: wait=30' -d '{"text":"What is the weather in Lisbon?"}'`,
  ];
}
