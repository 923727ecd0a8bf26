// Errors of a group's coordinator that pass by themselves: the broker has just started and loads its groups, or the
// group is being rebalanced.

const types = /GROUP_LOAD_IN_PROGRESS|COORDINATOR_NOT_AVAILABLE|NOT_COORDINATOR_FOR_GROUP|REBALANCE_IN_PROGRESS/;

/** kafkajs wraps the error of its last try in one without a type of its own. */
export function isPassing(error: unknown): boolean {
  const { type, cause } = (error ?? {}) as { readonly type?: string; readonly cause?: unknown };
  return types.test(String(type)) || (cause !== undefined && isPassing(cause));
}
