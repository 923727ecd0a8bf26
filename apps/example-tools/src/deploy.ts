// A tool that asks a user before it does anything, and remembers an answer that was given for the whole conversation.
// Its question survives a restart; a deployment that had begun is not repeated.
import { z } from 'zod';
import { defineTool } from '@dormouse/tool-server';

const environments = ['staging', 'production'] as const;

export const deploy = defineTool(
  {
    name: 'deploy',
    description:
      'Deploys a service to staging or production (pretended). Lets a person choose whether, and may be allowed for good.',
    input: z.strictObject({
      service: z.string().min(1).max(100).describe('Name of the service'),
      environment: z.enum(environments).default('staging').describe('Where to'),
    }),
    onRestart: 'rerun_if_asking',
  },
  async ({ service, environment }, context) => {
    const allowed = `deploy ${environment} ${service}`;
    if (context.memory.get(allowed) !== true) {
      const choices = [
        `Deploy ${service} to ${environment} now`,
        `Deploy ${service} to ${environment} now, and whenever this conversation asks again`,
        'Do not deploy',
      ];
      const prompt = `May ${service} be deployed to ${environment}?`;
      const { index } = await context.choose({ prompt, choices, default: 2 });
      if (index === 2) return `${service} was not deployed to ${environment}: a person decided against it.`;
      if (index === 1) context.memory.set(allowed, true);
    }
    return `${service} is deployed to ${environment}. Not really: this tool only pretends.`;
  },
);
