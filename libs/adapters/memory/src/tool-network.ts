// The network between the runtime and tool servers, in memory: a request goes to the peer that is registered under the
// longest matching URL prefix; without one the connection is refused.
import type { FetchOutcome, SendOutcome, SendRequest, ToolServer, ToolTransport } from '@dormouse/ports';
import type { Passage } from './gate.ts';

export interface ToolPeer {
  post(request: SendRequest): Promise<SendOutcome>;
  get(request: { readonly server: ToolServer; readonly url: string }): Promise<FetchOutcome>;
}

/** URL prefix to peer. */
export type ToolNetwork = Map<string, ToolPeer>;

const detail = 'nobody listens there';
const refused: SendOutcome = { sent: false, reached: false, code: 'ECONNREFUSED', detail };

/** Only sending passes the gate: what happens afterwards is up to the peer. Every URL may be called. */
export function createToolTransport(network: ToolNetwork, passage: Passage): ToolTransport {
  return {
    post: async (request) =>
      (
        await passage.write('transport.post', request.url, () => ({
          answer: peerOf(network, request.url)?.post(request),
        }))
      ).answer ?? refused,
    get: async (request) => {
      const peer = peerOf(network, request.url);
      if (peer === undefined) return { ok: false, code: 'TOOLSET_UNREACHABLE', detail };
      return (await passage.read('transport.get', request.url, () => ({ answer: peer.get(request) }))).answer;
    },
    judge: () => Promise.resolve({ ok: true }),
  };
}

function peerOf(network: ToolNetwork, url: string): ToolPeer | undefined {
  const prefixes = [...network.keys()].filter((prefix) => url.startsWith(prefix));
  const longest = prefixes.sort((left, right) => right.length - left.length)[0];
  return longest === undefined ? undefined : network.get(longest);
}
