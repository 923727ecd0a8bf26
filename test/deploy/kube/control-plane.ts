// The programs of a control plane of Kubernetes: etcd, API server, controllers, scheduler and kubectl, linked into one
// from their published modules, and kwok, which plays the nodes. Built once per machine, in about a quarter of an hour.
//
// Invariant:
//   1. A staging module that cannot be had at the version of Kubernetes is replaced by an empty one. The link fails
//      where something of it is needed.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildGoProgram } from '../../services/go-module.ts';
import { runCommand } from '../../services/run-command.ts';
import { builtFolder, type Found } from '../chart-programs.ts';
import { downloaded, kubernetesVersion } from './schemas.ts';

const kwok = { module: 'sigs.k8s.io/kwok', version: 'v0.8.0' };
const buildWithinMs = 10_800_000;

/** A folder with `control-plane`, `kwok` and `stages.yaml`, which says how kwok plays. */
export const controlPlanePrograms = (): Promise<Found> =>
  builtFolder(`kubernetes-${kubernetesVersion}`, async (into) => {
    console.error(`kubernetes: building ${kubernetesVersion} and kwok ${kwok.version} (about 15 minutes)`);
    const played = await downloaded(kwok.module, kwok.version, into);
    const stages = ['node/fast/node-initialize', 'node/heartbeat-with-lease/node-heartbeat-with-lease'];
    const ofPods = ['pod-ready', 'pod-complete', 'pod-delete'].map((name) => `pod/fast/${name}`);
    const texts = [...stages, ...ofPods].map((name) =>
      readFileSync(join(played, 'kustomize/stage', `${name}.yaml`), 'utf8'),
    );
    writeFileSync(join(into, 'stages.yaml'), texts.join('\n---\n'));
    await buildGoProgram({ ...kwok, command: './cmd/kwok', into });
    await link(await downloaded('k8s.io/kubernetes', kubernetesVersion, into), into);
  });

async function link(kubernetes: string, into: string): Promise<void> {
  const source = join(into, 'control-plane.source');
  mkdirSync(source);
  const manifest = readFileSync(join(kubernetes, 'go.mod'), 'utf8');
  const staging = [...manifest.matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging/gm)].map(([, name = '']) => name);
  const version = kubernetesVersion.replace(/^v1/, 'v0');
  const replaced: string[] = [];
  for (const module of staging) {
    const isThere = await downloaded(module, version, into).then(
      () => true,
      () => false,
    );
    replaced.push(`\t${module} => ${isThere ? `${module} ${version}` : stub(module, source)}`);
  }
  const language = /^go (\S+)/m.exec(manifest)?.[1] ?? '1.26.0';
  const header = `module control-plane.local\n\ngo ${language}\n\ngodebug default=go1.26\n`;
  const required = `require k8s.io/kubernetes ${kubernetesVersion}\n`;
  writeFileSync(join(source, 'go.mod'), `${header}\n${required}\nreplace (\n${replaced.join('\n')}\n)\n`);
  cpSync(join(kubernetes, 'go.sum'), join(source, 'go.sum'));
  writeFileSync(join(source, 'main.go'), program);
  // Helm compares the version of the server with what the chart needs.
  const ldflags = `-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`;
  const built = ['build', '-mod=mod', '-trimpath', ldflags, '-o', join(into, 'control-plane'), '.'];
  await runCommand('go', built, { withinMs: buildWithinMs, cwd: source });
}

function stub(module: string, source: string): string {
  const folder = join('stubs', module.replaceAll('/', '_'));
  mkdirSync(join(source, folder), { recursive: true });
  writeFileSync(join(source, folder, 'go.mod'), `module ${module}\n\ngo 1.26.0\n`);
  return `./${folder}`;
}

/** The first argument is the program, as the name of a file would be. */
const program = `package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
		os.Args = append([]string{name}, os.Args[2:]...)
	}
	var command *cobra.Command
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	case "kubectl":
		command = kubectl.NewDefaultKubectlCommand()
	default:
		fmt.Fprintln(os.Stderr, "etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kubectl")
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
`;
