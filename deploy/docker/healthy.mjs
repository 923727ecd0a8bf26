// Whether the process of this container does its work: exit code 0 or 1. `/readyz` says why not in one line.
const port = process.env['DORMOUSE_HEALTH_PORT'] || '7429';
try {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4_000) });
  console.log(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.log(String(error.cause ?? error));
  process.exitCode = 1;
}
