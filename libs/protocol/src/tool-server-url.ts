/**
 * Owns: the paths of a tool server that are derived from its base URL.
 * Not here: the `endpoint` of a manifest (R3); invocations go there and nowhere else.
 *
 * 1. Everything but invocations is relative to the base URL of discovery, a path prefix included. R17 R59 R64
 */

const paths = {
  discovery: '/.well-known/rap-toolset',
  closeThread: '/close_thread',
  cancelToolCall: '/cancel_tool_call',
  migrate: '/migrate',
} as const;

/** URL of `path` below `baseUrl` (no query, no fragment), which may end in a slash or not. */
export function toolServerUrl(baseUrl: string, path: keyof typeof paths): string {
  let end = baseUrl.length;
  while (baseUrl[end - 1] === '/') end--;
  return baseUrl.slice(0, end) + paths[path];
}
