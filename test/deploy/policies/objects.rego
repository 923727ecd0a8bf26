package main

import rego.v1

deny contains sprintf("%s: has no namespace of its own", [name]) if {
	not input.kind in {"Namespace"}
	not input.metadata.namespace
}

deny contains sprintf("%s: the chart makes no Secret", [name]) if input.kind == "Secret"

deny contains sprintf("%s: the chart asks for no rights", [name]) if {
	input.kind in {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
}

deny contains sprintf("%s: is reachable from outside without an Ingress or a route", [name]) if {
	input.kind == "Service"
	input.spec.type in {"LoadBalancer", "NodePort"}
}

deny contains sprintf("%s: may run for ever", [name]) if {
	input.kind == "Job"
	not input.spec.activeDeadlineSeconds
}

deny contains sprintf("%s: its name does not end with a hash", [name]) if {
	input.kind == "Job"
	not regex.match(`-[0-9a-f]{6,}$`, input.metadata.name)
}

deny contains sprintf("%s: has no %s probe", [name, probe]) if {
	input.kind == "Deployment"
	some probe in ["startup", "liveness", "readiness"]
	some container in input.spec.template.spec.containers
	not container[sprintf("%sProbe", [probe])]
}

deny contains sprintf("%s: its liveness looks at other servers", [name]) if {
	input.kind == "Deployment"
	some container in input.spec.template.spec.containers
	container.livenessProbe.httpGet.path != "/healthz"
}

deny contains sprintf("%s: stops before its process has drained", [name]) if {
	input.kind == "Deployment"
	input.spec.template.spec.terminationGracePeriodSeconds < 35
}

deny contains sprintf("%s: opens every port to every address", [name]) if {
	input.kind == "NetworkPolicy"
	some rule in input.spec.egress
	not rule.to
	not rule.ports
}
