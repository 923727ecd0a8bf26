// Sessions of the console: requests, answers and operations.
import { z } from 'zod';
import { time } from './field.ts';
import { operationsOf, reader } from './operation.ts';

export const signIn = z.strictObject({ key: z.string().min(1).max(1_000) }).meta({
  id: 'SignIn',
  description: 'An API key. The session’s cookie counts for requests of pages of this server only.',
});

export const session = z
  .object({
    tenant: z.string(),
    name: z.string().meta({ description: 'Of the key.' }),
    scopes: z.array(z.string()).meta({ description: 'What the session can do: what its key can.' }),
    expires_at: time,
    origins: z.array(z.string()).meta({ description: 'Origins whose pages may use the API, as they are set.' }),
  })
  .meta({ id: 'Session' });

export const sessionLink = z
  .object({ url: z.string(), expires_at: time })
  .meta({ id: 'SessionLink', description: 'Opens the console signed in, once.' });

export const sessionOperations = operationsOf('console', {
  signIn: {
    route: 'POST /v1/session',
    summary: 'Exchange an API key for a session of the console, in a cookie',
    access: 'open',
    body: signIn,
    answers: { 201: session },
  },
  getSession: {
    route: 'GET /v1/session',
    summary: 'The session of this browser; 401 when it has none',
    access: 'open',
    answers: { 200: session },
  },
  signOut: {
    route: 'DELETE /v1/session',
    summary: 'End the session of this browser, within ten seconds everywhere',
    access: 'open',
    answers: { 204: null },
  },
  createSessionLink: {
    route: 'POST /v1/session/links',
    summary:
      'A link that opens the console signed in, good once and for ten minutes; needs a key, a session is not enough',
    access: reader,
    answers: { 201: sessionLink },
    answersSecret: true,
  },
});
