// What a thread knows of its tools: enough to decide, never the definitions themselves (those are stored by hash).

/** One toolset as the thread loaded it. */
export interface LoadedToolset {
  readonly toolServer: string;
  readonly name: string;
  /** Hash of the manifest's canonical JSON; the toolset store keeps the manifest under it. */
  readonly sha256: string;
  /** Names offered to the model, in the manifest's order. */
  readonly tools: readonly string[];
  /** Of each of `tools`, the beginning of the hash of its definition's canonical JSON. Absent in older logs. */
  readonly definitions?: readonly string[];
  /** Annotations, which are used only where they are stricter. */
  readonly destructive: readonly string[];
  /** Delivery: tools that may be sent at most once. */
  readonly atMostOnce: readonly string[];
  /** True when the server did not answer and this is the last valid copy. */
  readonly stale: boolean;
}

export interface WithheldTool {
  readonly tool: string;
  readonly reason: string;
}

/** A tool server whose manifest could not be used. */
export interface RejectedToolset {
  readonly toolServer: string;
  readonly code: 'TOOLSET_INVALID' | 'TOOLSET_UNREACHABLE' | 'OUTBOUND_FORBIDDEN';
  readonly problems: readonly string[];
}
