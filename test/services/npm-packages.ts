// Programs and frameworks of the package registry that only some specs need, and that `npm ci` does not bring:
// installed once per machine into the cache.
import { builtOnce } from './built-once.ts';
import { runCommand } from './run-command.ts';

const installWithinMs = 300_000;

/** The folder whose `node_modules` has these packages, each `name@version`. No script of theirs runs. @throws Error */
export function npmPackages(
  cache: string,
  name: string,
  packages: readonly string[],
  say: (line: string) => void,
): Promise<string> {
  return builtOnce(cache, name, say, async (into) => {
    say(`${name}: installing ${packages.join(', ')}`);
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier'];
    const environment = {
      npm_config_progress: 'false',
      npm_config_fetch_retries: '1',
      npm_config_fetch_retry_mintimeout: '1000',
    };
    await runCommand('npm', ['install', '--prefix', into, ...flags, ...packages], {
      cwd: into,
      withinMs: installWithinMs,
      environment,
    });
  });
}
