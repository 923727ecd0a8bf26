/** RAP on the wire: messages, manifests, limits, safe reading of JSON. `SPEC.md` names the source and its readings. */
export {
  type Callback,
  type CallbackReading,
  encodeCallback,
  parseCallback,
  readingCallback,
  type SubscriptionEvent,
  type ToolResult,
  type ViewUpdate,
} from './callback.ts';
export { type ChoiceAnswer, encodeChoiceAnswer, parseChoiceAnswer } from './choice-answer.ts';
export { type Codec, createCodec, wireName, type WireName } from './codec.ts';
export type { ContentItem, DisplaySegment, ImageItem, TextItem } from './content.ts';
export { encodeInvocation, parseInvocation, type ToolInvocation } from './invocation.ts';
export * from './limits.ts';
export { messageSchemas } from './message-schemas.ts';
export {
  encodeCancelToolCall,
  encodeCloseThread,
  encodeMigrate,
  type Migrate,
  parseCancelToolCall,
  parseCloseThread,
  parseMigrate,
} from './notice.ts';
export { describeIssue, problemsOf } from './problem.ts';
export { injectedEventToolName, isBuiltInToolName } from './tool-name.ts';
export { errorTextPrefix, isErrorResult, opensSubscription, resultContent } from './tool-result.ts';
export { toolServerUrl } from './tool-server-url.ts';
export { parseToolset, parsingToolset, type Tool, type ToolAnnotations, type Toolset } from './toolset.ts';
