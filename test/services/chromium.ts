// A real Chromium without a window: from PATH, or Debian’s package with its libraries unpacked into the cache.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptUnpack } from './apt.ts';
import { builtOnce } from './built-once.ts';
import { isInstalled, runCommand } from './run-command.ts';

export interface Chromium {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** @throws Error where there is none and this is not Debian. */
export async function chromium(cache: string, say: (line: string) => void): Promise<Chromium> {
  if (await isInstalled('chromium')) {
    const executablePath = await runCommand('sh', ['-c', 'command -v chromium'], { withinMs: 5_000 });
    return { executablePath: executablePath.trim(), env: {} };
  }
  if (!(await isInstalled('dpkg-deb'))) throw new Error('no Chromium here: this is not Debian');
  const folder = await builtOnce(cache, 'chromium-debian', say, async (into) => {
    say('chromium: downloading Debian’s packages (about 100 MB)');
    await aptUnpack(['chromium'], into, 'with dependencies');
    await aptUnpack(['fonts-dejavu-core'], into); // also where this machine has it: no other font is used
    writeFileSync(join(into, 'fonts.conf'), fontSettings);
  });
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const own = `usr/lib/${architecture}-linux-gnu`;
  const libraries = [own, `${own}/pulseaudio`, `lib/${architecture}-linux-gnu`, 'usr/lib/chromium'];
  return {
    executablePath: join(folder, 'usr', 'lib', 'chromium', 'chromium'),
    env: {
      LD_LIBRARY_PATH: libraries
        .map((each) => join(folder, each))
        .filter(existsSync)
        .join(':'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

/** Its fonts alone, so that pictures look the same on every machine. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`;
