// What the kernel reports about a process: CPU time, memory, bytes written. Linux only; elsewhere the figures are null.
import { readFileSync } from 'node:fs';

export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly rssMib: number;
}

const ticksPerSecond = 100;

/** Of several processes together; null where /proc does not exist. */
export function figuresOf(pids: readonly number[]): ProcessFigures | null {
  try {
    let cpuSeconds = 0;
    let rssMib = 0;
    for (const pid of pids) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      cpuSeconds += (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
      const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      rssMib += Number(resident?.[1] ?? 0) / 1_024;
    }
    return { cpuSeconds, rssMib };
  } catch {
    return null; // not Linux, or the process is gone: "not measured" is printed
  }
}
