// The README's walk-through: commands, and what they print.
//
// W1  Between `<!-- walk:begin -->` and `<!-- walk:end -->`, each block `sh` is run in one shell, in order.
// W2  A block `json` or `text` is what the block before it prints. White space does not count; `…` stands for anything.
import type { Document } from './document.ts';
import { fencesOf, sectionOf } from './markdown.ts';

export interface Step {
  readonly script: string;
  /** Null when the document shows nothing. */
  readonly shown: string | null;
}

export function stepsOf({ path, text }: Document): Step[] {
  const section = sectionOf(text, 'walk');
  if (section === undefined) throw new Error(`${path} has no walk-through (W1)`);
  const steps: Step[] = [];
  for (const { language, text: body } of fencesOf(section)) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ script: body, shown: null });
    else if (last === undefined || last.shown !== null) throw new Error(`${path} shows an output of nothing: ${body}`);
    else steps.splice(-1, 1, { ...last, shown: body });
  }
  return steps;
}

const boundary = '-- end of block --';

/** One script for all steps; what each printed can be taken apart again. */
export function scriptOf(steps: readonly Step[], replacements: Readonly<Record<string, string>>): string {
  const script = steps.map((step) => `${step.script}\nprintf '\\n%s\\n' '${boundary}'\n`).join('');
  return Object.entries(replacements).reduce((text, [shown, real]) => text.replaceAll(shown, real), script);
}

export function outputsOf(printed: string): string[] {
  return printed.split(`\n${boundary}\n`).slice(0, -1);
}

/** (W2) */
export function isAsShown(shown: string, printed: string): boolean {
  const bare = (text: string): string => text.replaceAll(/\s+/g, '');
  const escaped = bare(shown)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[^]*?')}$`).test(bare(printed));
}
