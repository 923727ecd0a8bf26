// No tenant reads another tenant's data, and what must not be stored is not stored. I-21, I-23
import type { Reading } from './reading.ts';

/** I-21: a tenant's canary is in no log and no prompt of another tenant. */
export function tenantsStayApart({ threads, history }: Reading): readonly string[] {
  const canaries = Object.entries(history.canaries);
  const foreign = (tenant: string, text: string): readonly string[] =>
    canaries.filter(([owner, canary]) => owner !== tenant && text.includes(canary)).map(([owner]) => owner);
  const logs = threads.flatMap(({ name, key, commits }) =>
    commits.flatMap((commit) =>
      foreign(key.tenant, commit.body).map((owner) => `${name}@${commit.version} contains what ${owner} said`),
    ),
  );
  const prompts = history.prompts.flatMap(({ key, completionId, messages }) =>
    foreign(key.tenant, JSON.stringify(messages)).map(
      (owner) => `the prompt of ${completionId} of ${key.tenant} contains what ${owner} said`,
    ),
  );
  return [...logs, ...prompts];
}

/** I-23: no secret is in the log. */
export function secretsAreNotStored({ threads, history }: Reading): readonly string[] {
  if (history.secrets.length === 0) return [];
  return threads.flatMap(({ name, commits }) => {
    const stored = commits.map((commit) => commit.body).join('\n');
    return history.secrets
      .filter((secret) => stored.includes(secret))
      .map((secret) => `${name} contains the secret ${secret.slice(0, 12)}…`);
  });
}
