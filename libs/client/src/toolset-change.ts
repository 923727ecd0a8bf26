// How the tools that a server has now differ from those that a thread has loaded, in words.

/** `added a, b; removed c`, of a manifest, which is a stranger's document. */
export function toolsetChange(loaded: readonly string[], manifest: unknown): string {
  const now = toolNames(manifest);
  const [added, removed] = [now.filter((name) => !loaded.includes(name)), loaded.filter((name) => !now.includes(name))];
  const said = [
    ...(added.length === 0 ? [] : [`added ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(', ')}`]),
  ];
  return said.join('; ') || 'the same names, defined otherwise';
}

function toolNames(manifest: unknown): readonly string[] {
  const tools = typeof manifest === 'object' && manifest !== null && 'tools' in manifest ? manifest.tools : [];
  return Array.isArray(tools)
    ? tools.flatMap((tool: unknown) =>
        typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string' ? [tool.name] : [],
      )
    : [];
}
