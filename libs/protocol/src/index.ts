/** RAP on the wire: messages, manifests, limits, safe reading of JSON. `SPEC.md` names the source and its readings. */
export { encodeCallback, parseCallback, readingCallback } from './callback.ts';
export type {
  Callback,
  CallbackParse,
  CallbackReading,
  CallbackRefusal,
  CallbackType,
  OAuthRequest,
  SubscriptionEvent,
  ToolResult,
  UserChoice,
  ViewUpdate,
} from './callback.ts';
export { choiceAnswerSchema, encodeChoiceAnswer, parseChoiceAnswer } from './choice-answer.ts';
export type { ChoiceAnswer, ChoiceAnswerParse } from './choice-answer.ts';
export { codeName, createCodec, wireName } from './codec.ts';
export type { Codec, CodeName, InCode, WireName } from './codec.ts';
export type { ContentItem, DisplaySegment, ImageItem, TextItem } from './content.ts';
export { encodeInvocation, parseInvocation, toolInvocationSchema } from './invocation.ts';
export type { InvocationParse, ToolInvocation, WireToolInvocation } from './invocation.ts';
export * from './limits.ts';
export { messageSchemas } from './message-schemas.ts';
export {
  cancelToolCallSchema,
  closeThreadSchema,
  encodeCancelToolCall,
  encodeCloseThread,
  encodeMigrate,
  migrateSchema,
  parseCancelToolCall,
  parseCloseThread,
  parseMigrate,
} from './notice.ts';
export type { CancelToolCall, CloseThread, Migrate, NoticeParse } from './notice.ts';
export { describeIssue, problemsOf } from './problem.ts';
export { builtInToolNames, injectedEventToolName, isBuiltInToolName } from './tool-name.ts';
export type { BuiltInToolName } from './tool-name.ts';
export {
  errorTextPrefix,
  isErrorResult,
  opensSubscription,
  resultContent,
  unreadableResultText,
} from './tool-result.ts';
export { toolServerUrl } from './tool-server-url.ts';
export type { ToolServerPath } from './tool-server-url.ts';
export { parseToolset, parsingToolset } from './toolset.ts';
export type { Tool, ToolAnnotations, Toolset, ToolsetParse } from './toolset.ts';
