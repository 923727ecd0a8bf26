// A table of Markdown under its title.

export function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [title, '', line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
