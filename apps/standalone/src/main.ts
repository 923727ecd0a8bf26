// All five services in one process over SQLite, with the example tools. The check comes before any import: an old Node
// cannot load what is below.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `dormouse: needs Node 24 or newer, this is ${process.versions.node}. Start it with: npm start\n`,
  );
  process.exit(1);
}
const [{ runStandalone }, { startExampleTools }] = await Promise.all([
  import('@dormouse/host'),
  import('@dormouse/example-tools'),
]);
await runStandalone(startExampleTools, new URL('../../console/dist/', import.meta.url));

export {};
