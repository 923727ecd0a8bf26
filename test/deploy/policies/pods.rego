# What every manifest of the chart keeps, whatever its values: `conftest test --policy test/deploy/policies FILE`.
package main

import rego.v1

pod_spec := input.spec.template.spec if input.kind in {"Deployment", "Job", "StatefulSet", "DaemonSet"}

pod_spec := input.spec if input.kind == "Pod"

name := sprintf("%s %s", [input.kind, input.metadata.name])

containers contains container if some container in pod_spec.containers

containers contains container if some container in pod_spec.initContainers

deny contains sprintf("%s: %s has no tag or digest, or the tag latest", [name, container.image]) if {
	some container in containers
	not regex.match(`^[^@]+:[\w][\w.-]*(@sha256:[0-9a-f]{64})?$`, container.image)
}

deny contains sprintf("%s: %s has the tag latest", [name, container.image]) if {
	some container in containers
	regex.match(`:latest(@|$)`, container.image)
}

deny contains sprintf("%s: %s has no limit of memory", [name, container.name]) if {
	some container in containers
	not container.resources.limits.memory
}

deny contains sprintf("%s: %s has no limit of ephemeral storage", [name, container.name]) if {
	some container in containers
	not container.resources.limits["ephemeral-storage"]
}

deny contains sprintf("%s: %s has no request of cpu or memory", [name, container.name]) if {
	some container in containers
	not requests(container)
}

requests(container) if {
	container.resources.requests.cpu
	container.resources.requests.memory
}

deny contains sprintf("%s: %s may gain privileges", [name, container.name]) if {
	some container in containers
	not container.securityContext.allowPrivilegeEscalation == false
}

deny contains sprintf("%s: %s keeps capabilities", [name, container.name]) if {
	some container in containers
	not container.securityContext.capabilities == {"drop": ["ALL"]}
}

deny contains sprintf("%s: %s writes to its root", [name, container.name]) if {
	some container in containers
	not container.securityContext.readOnlyRootFilesystem == true
}

deny contains sprintf("%s: %s is privileged", [name, container.name]) if {
	some container in containers
	container.securityContext.privileged == true
}

deny contains sprintf("%s: does not run as 10001, or may run as root", [name]) if {
	pod_spec
	not unprivileged
}

unprivileged if {
	pod_spec.securityContext.runAsNonRoot == true
	pod_spec.securityContext.runAsUser == 10001
	pod_spec.securityContext.seccompProfile.type == "RuntimeDefault"
}

deny contains sprintf("%s: shares %s with its node", [name, field]) if {
	some field in ["hostNetwork", "hostPID", "hostIPC"]
	pod_spec[field] == true
}

deny contains sprintf("%s: mounts %s of its node", [name, volume.name]) if {
	some volume in pod_spec.volumes
	volume.hostPath
}

deny contains sprintf("%s: gets a token for the API of Kubernetes", [name]) if {
	pod_spec
	not pod_spec.automountServiceAccountToken == false
}

deny contains sprintf("%s: %s is a secret in the environment", [name, variable.name]) if {
	some container in containers
	some variable in container.env
	regex.match(`^DORMOUSE_(MASTER_KEY|BOOTSTRAP_KEY|PLATFORM_KEY|KAFKA_SASL|MONGO_URL|REDIS_URL)$`, variable.name)
}
