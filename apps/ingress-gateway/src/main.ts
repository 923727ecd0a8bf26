// The ingress-gateway as one deployable. The check comes before any import: an old Node cannot load what is below.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(`dormouse: needs Node 24 or newer, this is ${process.versions.node}\n`);
  process.exit(1);
}
const { runService } = await import('@dormouse/host');
await runService('ingress-gateway', new URL('../../console/dist/', import.meta.url));

export {};
