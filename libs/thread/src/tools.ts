// Queries about the tools a thread has loaded.
import type { TeamApproval } from './policy.ts';
import { own, type Thread } from './thread.ts';
import type { LoadedToolset } from './toolset.ts';

/** The toolset that offers this tool; at most one does (R21). */
export function toolsetOf(thread: Thread, operation: string): LoadedToolset | undefined {
  return thread.toolsets.find((toolset) => toolset.tools.includes(operation));
}

/** Whether policy requires a person to allow this call. Annotations can only make it stricter. R27, R104 */
export function needsApproval(thread: Thread, toolset: LoadedToolset, operation: string): boolean {
  const { mode, tools } = thread.policies.approve;
  const named = own(tools, operation);
  if (named !== undefined) return named !== 'never';
  if (mode === 'none') return false;
  return mode === 'all' || toolset.destructive.includes(operation);
}

/** Who is asked to allow a call of this tool, and how many must; empty for one person of any name. */
export function teamOf({ policies }: Pick<Thread, 'policies'>, operation: string): Omit<TeamApproval, 'mode'> {
  const named = own(policies.approve.tools, operation);
  return typeof named === 'object' ? named : {};
}

/** Milliseconds a call of this tool may stay pending, or null for ever. R58 */
export function timeoutOf(thread: Thread, operation: string): number | null {
  const limits = thread.limits.toolTimeoutMs;
  const named = own(limits, operation);
  return named === undefined ? (limits['default'] ?? null) : named;
}
