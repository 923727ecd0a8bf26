package main

import rego.v1

good := {
	"kind": "Deployment",
	"metadata": {"name": "a", "namespace": "n"},
	"spec": {"template": {"spec": {
		"automountServiceAccountToken": false,
		"terminationGracePeriodSeconds": 60,
		"securityContext": {"runAsNonRoot": true, "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"}},
		"containers": [{
			"name": "c",
			"image": "dormouse:0.1.0",
			"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi", "ephemeral-storage": "1Gi"}},
			"securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}},
			"startupProbe": {},
			"livenessProbe": {"httpGet": {"path": "/healthz"}},
			"readinessProbe": {},
			"env": [{"name": "DORMOUSE_MASTER_KEY_FILE"}],
		}],
	}}},
}

changed(path, value) := json.patch(good, [{"op": "add", "path": path, "value": value}])

test_what_is_right_passes if count(deny) == 0 with input as good

refused contains "image" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/image", "dormouse:latest")

refused contains "untagged" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/image", "dormouse")

refused contains "memory" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/resources/limits", {"ephemeral-storage": "1Gi"})

refused contains "storage" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/resources/limits", {"memory": "1Gi"})

refused contains "requests" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/resources/requests", {})

refused contains "escalation" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation", true)

refused contains "capabilities" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/securityContext/capabilities", {"drop": ["NET_RAW"]})

refused contains "root" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem", false)

refused contains "privileged" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/securityContext/privileged", true)

refused contains "user" if count(deny) == 1 with input as changed("/spec/template/spec/securityContext/runAsUser", 0)

refused contains "host" if count(deny) == 1 with input as changed("/spec/template/spec/hostNetwork", true)

refused contains "path" if count(deny) == 1 with input as changed("/spec/template/spec/volumes", [{"name": "v", "hostPath": {"path": "/"}}])

refused contains "token" if count(deny) == 1 with input as changed("/spec/template/spec/automountServiceAccountToken", true)

refused contains "secret" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/env", [{"name": "DORMOUSE_MASTER_KEY"}])

refused contains "namespace" if count(deny) == 1 with input as json.remove(good, ["/metadata/namespace"])

refused contains "probe" if count(deny) == 1 with input as json.remove(good, ["/spec/template/spec/containers/0/startupProbe"])

refused contains "liveness" if count(deny) == 1 with input as changed("/spec/template/spec/containers/0/livenessProbe", {"httpGet": {"path": "/readyz"}})

refused contains "grace" if count(deny) == 1 with input as changed("/spec/template/spec/terminationGracePeriodSeconds", 30)

refused contains "kind" if count(deny) == 1 with input as {"kind": "Secret", "metadata": {"name": "a", "namespace": "n"}}

refused contains "rights" if count(deny) == 1 with input as {"kind": "Role", "metadata": {"name": "a", "namespace": "n"}}

refused contains "service" if {
	count(deny) == 1 with input as {"kind": "Service", "metadata": {"name": "a", "namespace": "n"}, "spec": {"type": "NodePort"}}
}

refused contains "policy" if {
	count(deny) == 1 with input as {"kind": "NetworkPolicy", "metadata": {"name": "a", "namespace": "n"}, "spec": {"egress": [{}]}}
}

test_each_fault_is_one_refusal if count(refused) == 22
