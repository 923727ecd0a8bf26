/** The SDK for tool servers of the Reactive Agent Protocol: define tools, serve them. */
export type { AuthenticationOptions } from './authentication.ts';
export type { MigrateHook } from './migration.ts';
export type { Authorization, OAuthProvider } from './oauth-provider.ts';
export { type DeliverySettings, deliverySettings } from './outbox.ts';
export {
  type Route,
  type RouteAnswer,
  type RouteRequest,
  webhook,
  type WebhookEvent,
  type WebhookOptions,
} from './route.ts';
export { serve } from './serve.ts';
export { type ServeOptions, serverLimits, type ServerLimits } from './serve-options.ts';
export type { ToolServer } from './tool-server.ts';
export type { ThreadMemory } from './thread-store.ts';
export type { EmitOptions, EmitOutcome, Subscription } from './subscription.ts';
export {
  type Choice,
  defineTool,
  type Question,
  type SubscribeOptions,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './tool.ts';
export { diff, failed, type HandlerOutput, image, shownAs, ToolError, ToolOutput } from './tool-output.ts';
