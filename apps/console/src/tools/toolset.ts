// The part of a manifest that the console shows. It is a stranger's document: what it should not have is
// left out.
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  readonly annotations: readonly string[];
}

export function toolsOf(toolset: unknown): readonly ShownTool[] {
  const tools = field(toolset, 'tools');
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const name = field(tool, 'name');
    if (typeof name !== 'string') return [];
    const description = field(tool, 'description');
    const annotations = field(tool, 'annotations');
    return [
      {
        name,
        description: typeof description === 'string' ? description : '',
        schema: field(tool, 'inputSchema'),
        annotations: Object.entries(typeof annotations === 'object' && annotations !== null ? annotations : {}).flatMap(
          ([key, value]) => (value === true ? [key] : []),
        ),
      },
    ];
  });
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
