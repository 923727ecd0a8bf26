/** The SDK for tool servers of the Reactive Agent Protocol: define tools, serve them. */
export type { AuthenticationOptions } from './http/authentication.ts';
export type { MigrateHook } from './call/migration.ts';
export type { Authorization, OAuthProvider } from './ask/oauth-provider.ts';
export { type DeliverySettings, deliverySettings } from './outbox/outbox.ts';
export {
  type Route,
  type RouteAnswer,
  type RouteRequest,
  webhook,
  type WebhookEvent,
  type WebhookOptions,
} from './http/route.ts';
export { createToolServer, type FetchHandler, type FetchHandlerOptions, toFetchHandler } from './fetch-handler.ts';
export { serve } from './serve.ts';
export { type ServeOptions, serverLimits, type ServerLimits, type ToolServerOptions } from './define/serve-options.ts';
export type { ToolServer } from './define/tool-server.ts';
export type { ThreadMemory } from './call/thread-store.ts';
export type { EmitOptions, EmitOutcome, Subscription } from './call/subscription.ts';
export {
  type Choice,
  defineTool,
  type Question,
  type SubscribeOptions,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './define/tool.ts';
export { diff, failed, type HandlerOutput, image, shownAs, ToolError, ToolOutput } from './define/tool-output.ts';
