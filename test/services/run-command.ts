// Runs a command of the machine (a package manager, a compiler) and returns its output.
import { spawn } from 'node:child_process';

const keptCharacters = 4_000;

/** @throws Error with the end of its output when it fails or takes longer than `withinMs`. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: {
    readonly withinMs: number;
    readonly cwd?: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const late = setTimeout(() => child.kill(), options.withinMs); // not Node's own, which outlives a program that is not there
  let printed = '';
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (all = (all + chunk.toString('utf8')).slice(-keptCharacters)));
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) resolve(printed);
    else reject(new Error(`${command} ${args[0] ?? ''} ended with ${code ?? signal}: ${all}`));
  });
  return promise.finally(() => clearTimeout(late));
}

export async function isInstalled(command: string): Promise<boolean> {
  try {
    await runCommand('sh', ['-c', `command -v ${command}`], { withinMs: 5_000 });
    return true;
  } catch {
    return false; // that means no
  }
}
