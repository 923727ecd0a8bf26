// Models: which providers can be asked, and what they offer.
import { z } from 'zod';
import { operationsOf, reader } from './operation.ts';

const offeredModel = z.object({ name: z.string(), context_window_tokens: z.int().nullable() }).meta({
  id: 'OfferedModel',
  description: 'A model as its provider names it; the window is null where it is not said.',
});

export const offeredProvider = z
  .object({
    provider: z.string(),
    key: z.enum(['not_needed', 'of_the_agent', 'secret', 'environment', 'missing']),
    base_url: z.string().nullable(),
    detail: z.string().nullable(),
    models: z.array(offeredModel),
  })
  .meta({
    id: 'OfferedProvider',
    description:
      'A provider, where its key comes from, and `detail`: what is missing, or why it has no list of models.',
  });

export const modelOperations = operationsOf('agents', {
  listModels: {
    route: 'GET /v1/models',
    summary: 'Providers that can be asked, and the models that they list',
    access: reader,
    answers: { 200: z.object({ data: z.array(offeredProvider) }) },
  },
});
