// The README's walk-through: commands, and what they print.
//
// W1  Between `<!-- walk:begin -->` and `<!-- walk:end -->`, each block `sh` is run in one shell, in order.
// W2  A block `json` or `text` is what the block before it prints. White space does not count; `…` stands for anything.
import { spawn } from 'node:child_process';
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

/** What a walk printed that its document does not show. */
interface Surprise {
  readonly typed: string;
  readonly shown: string | null;
  readonly printed: string;
}

/** All steps in one shell that starts in `folder`; shown values are replaced by real ones. (W1, W2) */
export async function walk(
  steps: readonly Step[],
  folder: string,
  replacements: Readonly<Record<string, string>>,
): Promise<{ readonly surprises: readonly Surprise[]; readonly stderr: string }> {
  const { stdout, stderr } = await bash(scriptOf(steps, replacements), folder);
  const outputs = outputsOf(stdout);
  const surprises = steps.flatMap(({ script: typed, shown }, place): readonly Surprise[] => {
    const printed = outputs[place];
    if (printed === undefined) return [{ typed, shown, printed: 'it did not come so far' }];
    return shown === null || isAsShown(shown, printed) ? [] : [{ typed, shown, printed }];
  });
  return { surprises, stderr };
}

function bash(script: string, cwd: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-s'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', () => resolve({ stdout, stderr }));
    child.stdin.end(script);
  });
}

/** One script for all steps; the outputs can be separated again. */
function scriptOf(steps: readonly Step[], replacements: Readonly<Record<string, string>>): string {
  const script = steps.map((step) => `${step.script}\nprintf '\\n%s\\n' '${boundary}'\n`).join('');
  return Object.entries(replacements).reduce((text, [shown, real]) => text.replaceAll(shown, real), script);
}

function outputsOf(printed: string): string[] {
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
