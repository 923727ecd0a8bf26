// A subscription that streams: each line of a simulated build is an event of the calling thread, the last one is final.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '@dormouse/tool-server';

const stages = ['resolve', 'compile', 'lint', 'link', 'package'] as const;
const secondsMax = 600;

export const runBuild = defineTool(
  {
    name: 'run_build',
    description:
      'Builds a project (pretended) and streams the output of each stage as it comes, until the build ends with an exit code.',
    input: z.strictObject({
      project: z.string().min(1).max(100).default('demo').describe('Name of the project'),
      seconds: z.number().min(0).max(secondsMax).default(5).describe('How long the whole build takes'),
      broken: z.boolean().default(false).describe('Whether a stage is broken'),
    }),
    annotations: { longRunning: true },
  },
  async ({ project, seconds, broken }, context) => {
    const build = await context.subscribe({ text: `The build of ${project} has begun; its output follows.` });
    const pauseMs = (seconds * 1_000) / stages.length;
    for (const stage of stages) {
      await sleep(pauseMs, undefined, { signal: context.signal });
      const hasFailed = broken && stage === 'link';
      const line = `${stage} ${project} ... ${hasFailed ? 'failed: undefined symbol' : 'ok'}`;
      const isLast = hasFailed || stage === stages.at(-1);
      build.emit(isLast ? `${line}\n[exit code: ${hasFailed ? 1 : 0}]` : line, { associative: true, final: isLast });
      if (isLast) return undefined;
    }
    return undefined;
  },
);
