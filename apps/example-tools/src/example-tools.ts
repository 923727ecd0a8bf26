// The example tool server: documentation by example, used by the demo and by tests. The protocol is implemented in
// @dormouse/tool-server; this file only selects tools, routes and settings.
import { type DeliverySettings, serve } from '@dormouse/tool-server';
import { refuseFlaky, createTools } from './tools.ts';
import { createToyProvider } from './toy-provider.ts';
import { repositoryWebhook } from './watch-repository.ts';

const closeMsMax = 1_000;

export interface ExampleToolsOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** The address the manifest names; default: the one it listens on. */
  readonly publicUrl?: string;
  /** Where calls, subscriptions and messages are kept; in memory when absent, lost at a restart. */
  readonly dataDir?: string;
  /** When set, every POST needs `Authorization: Bearer <bearer>`. T38 */
  readonly bearer?: string;
  /** When set, every POST needs a signature by Standard Webhooks, or the bearer token if there is one too. T38 */
  readonly hmac?: string;
  /** Calls with another version get 409. T48 */
  readonly toolsetVersion?: string;
  /** What the repository's host signs with; default: one made at random, in the data directory if there is one. T31 */
  readonly webhookSecret?: string;
  readonly delivery?: Partial<DeliverySettings>;
  readonly log?: (line: string) => void;
}

export interface ExampleTools {
  /** Base URL under which a tool server is registered. */
  readonly url: string;
  /** Where invocations go. */
  readonly endpoint: string;
  /** The secret that signs the repository's webhook. */
  readonly webhookSecret: string;
  /** Writes a copy of the data directory, as of this moment, into an existing one. */
  copyInto(directory: string): void;
  close(): Promise<void>;
}

export async function startExampleTools(options: ExampleToolsOptions): Promise<ExampleTools> {
  const { port, host, publicUrl, dataDir, toolsetVersion = '1', webhookSecret, delivery, bearer, hmac } = options;
  let url = publicUrl ?? '';
  const provider = canLogIn(publicUrl ?? `http://${host}`) ? createToyProvider(() => url) : null;
  const attempts = new Map<string, number>();
  const server = await serve({
    name: 'example-tools',
    description:
      'A clock, the weather, dice and slow, flaky and destructive jobs; builds, reminders, webhooks, choices, a login, an image.',
    tools: createTools(provider),
    port,
    host,
    version: toolsetVersion,
    refuseStale: true,
    routes: [repositoryWebhook(webhookSecret), ...(provider?.routes ?? [])],
    admit: (invocation) => refuseFlaky(attempts, invocation),
    log: options.log ?? (() => {}),
    limits: { closeMsMax },
    auth: { bearer, hmac },
    publicUrl,
    dataDir,
    delivery,
  });
  url = server.url;
  return {
    url,
    endpoint: server.endpoint,
    webhookSecret: webhookSecret ?? server.secret('repository webhook'),
    copyInto: (directory) => server.copyInto(directory),
    close: () => server.close(),
  };
}

/** RAP OAuth, Security: the page is https; loopback suffices on one machine, for the demo. */
const canLogIn = (address: string): boolean =>
  /^https:/i.test(address) || ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(address)?.hostname ?? '');
