{{/* All problems of the values at once, each with the value and its repair. Forms and types are the schema's. */}}
{{- define "dormouse.validate" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- if gt (len .Release.Name) 40 -}}
  {{- $problems = append $problems (printf "the name of the release has %d characters, and names of its objects would be too long: choose one of at most 40" (len .Release.Name)) -}}
{{- end -}}
{{- range $place := list (list "mongodb.existingSecret" $values.mongodb.existingSecret $values.mongodb.key "the URL of MongoDB") (list "redis.existingSecret" $values.redis.existingSecret $values.redis.key "the URL of Redis") (list "keys.master.existingSecret" $values.keys.master.existingSecret $values.keys.master.key "the master key: 64 hexadecimal digits, kept for ever") (list "keys.bootstrap.existingSecret" $values.keys.bootstrap.existingSecret $values.keys.bootstrap.key "the first API key") -}}
  {{- if not (index $place 1) -}}
    {{- $problems = append $problems (printf "%s: is missing; name a Secret of this namespace whose key `%s` has %s" (index $place 0) (index $place 2) (index $place 3)) -}}
  {{- end -}}
{{- end -}}
{{- if not (include "dormouse.brokers" . | fromJsonArray) -}}
  {{- $problems = append $problems "kafka.brokers: is empty; list at least one host:port" -}}
{{- end -}}
{{- range include "dormouse.brokers" . | fromJsonArray -}}
  {{- if not (regexMatch "^[^\\s,:/@]+:[0-9]{1,5}$" .) -}}
    {{- $problems = append $problems (printf "kafka.brokers: `%s` is not host:port; a login belongs to the Secret of kafka.sasl, TLS to kafka.tls" .) -}}
  {{- end -}}
{{- end -}}
{{- $problems = concat $problems (include "dormouse.addressProblems" . | fromJsonArray) -}}
{{- $problems = concat $problems (include "dormouse.tlsProblems" . | fromJsonArray) -}}
{{- if eq (default .Chart.AppVersion $values.image.tag) "latest" -}}
  {{- $problems = append $problems "image.tag: `latest` names another image tomorrow, and a rollback would not roll back; name a version, or a digest" -}}
{{- end -}}
{{- if gt (int $values.kafka.replication) (len (include "dormouse.brokers" . | fromJsonArray)) -}}
  {{- if lt (len (include "dormouse.brokers" . | fromJsonArray)) 2 -}}
    {{- $problems = append $problems (printf "kafka.replication: is %d, and kafka.brokers lists one broker; list the others, of which the first may be away too" (int $values.kafka.replication)) -}}
  {{- end -}}
{{- end -}}
{{- range $key, $service := include "dormouse.services" . | fromYaml -}}
  {{- $problems = concat $problems (include "dormouse.serviceProblems" (dict "root" $ "key" $key "service" $service) | fromJsonArray) -}}
{{- end -}}
{{- $problems = concat $problems (include "dormouse.extraProblems" . | fromJsonArray) -}}
{{- if $problems -}}
  {{- fail (printf "\n\nThe values cannot be used:\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end }}

{{- define "dormouse.addressProblems" -}}
{{- $found := list -}}
{{- $callbacks := include "dormouse.callbackBase" . -}}
{{- with .Values -}}
{{- if not .publicUrl -}}
  {{- $found = append $found "publicUrl: is missing; the gateway answers only to requests for its name, such as https://agents.example.com" -}}
{{- else if not (regexMatch "^https?://[^/@?#]+/?$" .publicUrl) -}}
  {{- $found = append $found (printf "publicUrl: `%s` is not scheme and host alone, such as https://agents.example.com" .publicUrl) -}}
{{- end -}}
{{- if not $callbacks -}}
  {{- $found = append $found "callbacks.host: is missing; tool servers send their results there: a host of its own, such as callbacks.example.com, or callbacks.baseUrl" -}}
{{- else if not (regexMatch "^https?://[^@?#]+$" $callbacks) -}}
  {{- $found = append $found (printf "callbacks.baseUrl: `%s` is not an http or https URL" $callbacks) -}}
{{- else if and (hasPrefix "http://" $callbacks) (not .callbacks.plainHttp) -}}
  {{- $found = append $found "callbacks.baseUrl: callbacks would travel unencrypted, with their tokens; use https:, or set callbacks.plainHttp on a network that is private" -}}
{{- end -}}
{{- if and .callbacks.host .callbacks.baseUrl -}}
  {{- $found = append $found "callbacks.host: callbacks.baseUrl is given too; keep one" -}}
{{- end -}}
{{- $isRouted := or .ingress.enabled .gatewayApi.enabled -}}
{{- if and $isRouted $callbacks .publicUrl -}}
  {{- if eq (include "dormouse.hostOf" $callbacks) (include "dormouse.hostOf" .publicUrl) -}}
    {{- $found = append $found (printf "callbacks.host: is `%s`, as publicUrl is; callbacks need a host of their own, whose access log drops the path: it has a token" (include "dormouse.hostOf" $callbacks)) -}}
  {{- end -}}
{{- end -}}
{{- if and .gatewayApi.enabled (not .gatewayApi.parentRefs) -}}
  {{- $found = append $found "gatewayApi.parentRefs: is empty; name the Gateway, such as [{ name: public, namespace: gateways }]" -}}
{{- end -}}
{{- range .outboundAllow -}}
  {{- if not (regexMatch "^(https?://)?(\\[[0-9a-fA-F:.]+(/[0-9]{1,3})?\\]|[0-9a-fA-F]*:[0-9a-fA-F:.]+(/[0-9]{1,3})?|[0-9.]+(/[0-9]{1,2})?|\\*?\\.?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?)(:[0-9]{1,5})?$" .) -}}
    {{- $found = append $found (printf "outboundAllow: `%s` is not [http://](host-suffix | CIDR)[:port]" .) -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}

{{- define "dormouse.tlsProblems" -}}
{{- $found := list -}}
{{- range $name, $tls := dict "kafka.tls" .Values.kafka.tls "redis.tls" .Values.redis.tls -}}
  {{- $named := or $tls.ca $tls.certificate $tls.key -}}
  {{- if and $named (not $tls.existingSecret) -}}
    {{- $found = append $found (printf "%s.existingSecret: is missing; %s.ca, certificate and key are keys of that Secret" $name $name) -}}
  {{- end -}}
  {{- if and $tls.existingSecret (not $named) -}}
    {{- $found = append $found (printf "%s.ca: is missing; say which key of %s.existingSecret has the authorities, or name certificate and key" $name $name) -}}
  {{- end -}}
  {{- if and $tls.certificate (not $tls.key) -}}
    {{- $found = append $found (printf "%s.key: is needed with %s.certificate" $name $name) -}}
  {{- end -}}
  {{- if and $tls.key (not $tls.certificate) -}}
    {{- $found = append $found (printf "%s.certificate: is needed with %s.key" $name $name) -}}
  {{- end -}}
{{- end -}}
{{- if and .Values.kafka.tls.existingSecret (not .Values.kafka.tls.enabled) -}}
  {{- $found = append $found "kafka.tls.enabled: is false, and kafka.tls.existingSecret would be of no use; set it to true" -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}

{{/* Input: root, key, service. */}}
{{- define "dormouse.serviceProblems" -}}
{{- $found := list -}}
{{- $settings := include "dormouse.settings" . | fromJson -}}
{{- $name := printf "services.%s" .key -}}
{{- $scaling := $settings.autoscaling -}}
{{- $partitions := int .root.Values.kafka.partitions -}}
{{- $consumes := .service.topic -}}
{{- if not (has $scaling.mode (list "none" "hpa" "keda")) -}}
  {{- $found = append $found (printf "%s.autoscaling.mode: `%s` is none of none, hpa and keda; never two at once, because each would undo the replicas of the other" $name $scaling.mode) -}}
{{- end -}}
{{- if ne $scaling.mode "none" -}}
  {{- if gt (int $scaling.min) (int $scaling.max) -}}
    {{- $found = append $found (printf "%s.autoscaling.min: %d is more than max, %d" $name (int $scaling.min) (int $scaling.max)) -}}
  {{- end -}}
  {{- if and $consumes (gt (int $scaling.max) $partitions) -}}
    {{- $found = append $found (printf "%s.autoscaling.max: %d is more than kafka.partitions, %d; a replica beyond them has nothing to do" $name (int $scaling.max) $partitions) -}}
  {{- end -}}
  {{- if and (eq $scaling.mode "keda") (not $consumes) -}}
    {{- $found = append $found (printf "%s.autoscaling.mode: keda scales by lag, and a gateway has none; use hpa" $name) -}}
  {{- end -}}
  {{- if and (eq $scaling.mode "keda") $consumes .root.Values.kafka.sasl.existingSecret (not $scaling.authentication) -}}
    {{- $found = append $found (printf "%s.autoscaling.authentication: is missing; kafka.sasl is given, and KEDA needs a TriggerAuthentication of its own to read the lag" $name) -}}
  {{- end -}}
  {{- if and (eq $scaling.mode "hpa") (not (dig "requests" "cpu" "" $settings.resources)) -}}
    {{- $found = append $found (printf "%s.resources.requests.cpu: is missing; hpa compares the use of processors with it" $name) -}}
  {{- end -}}
{{- else if and $consumes (gt (int $settings.replicas) $partitions) -}}
  {{- $found = append $found (printf "%s.replicas: %d is more than kafka.partitions, %d; a replica beyond them has nothing to do" $name (int $settings.replicas) $partitions) -}}
{{- end -}}
{{- $replicas := ternary (int $settings.replicas) (int $scaling.min) (eq $scaling.mode "none") -}}
{{- with $settings.pdb -}}
  {{- if .enabled -}}
    {{- $hasMin := and (hasKey . "minAvailable") (not (kindIs "invalid" .minAvailable)) -}}
    {{- $hasMax := and (hasKey . "maxUnavailable") (not (kindIs "invalid" .maxUnavailable)) -}}
    {{- if and $hasMin $hasMax -}}
      {{- $found = append $found (printf "%s.pdb: minAvailable and maxUnavailable are both given; keep one" $name) -}}
    {{- else if and $hasMin (not (kindIs "string" .minAvailable)) (ge (int .minAvailable) $replicas) -}}
      {{- $found = append $found (printf "%s.pdb.minAvailable: %d of %d replicas; no node could be drained" $name (int .minAvailable) $replicas) -}}
    {{- else if and $hasMax (eq (toString .maxUnavailable) "0") -}}
      {{- $found = append $found (printf "%s.pdb.maxUnavailable: is 0; no node could be drained" $name) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $needed := add 35 (int $settings.preStopSeconds) -}}
{{- if lt (int $settings.terminationGracePeriodSeconds) (int $needed) -}}
  {{- $found = append $found (printf "%s.terminationGracePeriodSeconds: %d is too short; a process drains for 30 s at most, after preStopSeconds: at least %d" $name (int $settings.terminationGracePeriodSeconds) (int $needed)) -}}
{{- end -}}
{{- if not (dig "limits" "memory" "" $settings.resources) -}}
  {{- $found = append $found (printf "%s.resources.limits.memory: is missing; one process would take the memory of its node" $name) -}}
{{- end -}}
{{- $own := include "dormouse.ownVariables" .root | fromJsonArray -}}
{{- $secrets := list "DORMOUSE_MASTER_KEY" "DORMOUSE_BOOTSTRAP_KEY" "DORMOUSE_PLATFORM_KEY" "DORMOUSE_KAFKA_SASL" "DORMOUSE_MONGO_URL" "DORMOUSE_REDIS_URL" -}}
{{- range $settings.extraEnv -}}
  {{- if has .name $secrets -}}
    {{- $found = append $found (printf "%s.extraEnv: %s is a secret, and has a value of the chart that names its Secret: see README.md" $name .name) -}}
  {{- else if has .name $own -}}
    {{- $found = append $found (printf "%s.extraEnv: %s is set by the chart; use its value: see README.md" $name .name) -}}
  {{- end -}}
{{- end -}}
{{- range $label, $_ := $settings.podLabels -}}
  {{- if has $label (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component") -}}
    {{- $found = append $found (printf "%s.podLabels: %s selects the pods of this service; another label" $name $label) -}}
  {{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}

{{/* A scaler among extraObjects that would fight with one of the chart, and credentials that are values. */}}
{{- define "dormouse.extraProblems" -}}
{{- $found := list -}}
{{- $root := . -}}
{{- range $given := .Values.extraObjects -}}
  {{- $object := $given -}}
  {{- if kindIs "string" $given }}{{ $object = tpl $given $root | fromYaml }}{{ end -}}
  {{- if has (default "" $object.kind) (list "HorizontalPodAutoscaler" "ScaledObject") -}}
    {{- $target := dig "spec" "scaleTargetRef" "name" "" $object -}}
    {{- range $key, $service := include "dormouse.services" $root | fromYaml -}}
      {{- if and (eq (tpl $target $root) (printf "%s-%s" $root.Release.Name $service.name)) (ne (include "dormouse.settings" (dict "root" $root "key" $key) | fromJson).autoscaling.mode "none") -}}
        {{- $found = append $found (printf "extraObjects: a %s scales %s, and so does services.%s.autoscaling; each would undo the replicas of the other: set its mode to none" $object.kind $target $key) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}

{{/* Compares with what an earlier install of this release has noted. Without a cluster (helm template, Argo CD) there is
nothing to compare with; the processes refuse such data by themselves, after the start. */}}
{{- define "dormouse.guardData" -}}
{{- $noted := default (dict) (lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-data" .Release.Name)) -}}
{{- $data := default (dict) $noted.data -}}
{{- $problems := list -}}
{{- if $data -}}
  {{- if ne $data.prefix .Values.kafka.prefix -}}
    {{- if ne .Values.dataGuard.moveFromPrefix $data.prefix -}}
      {{- $problems = append $problems (printf "kafka.prefix: the data of this release is under `%s`, and `%s` would leave it behind; put it back, or move as docs/how-to/move-to-other-topics.md says and set dataGuard.moveFromPrefix to `%s`" $data.prefix .Values.kafka.prefix $data.prefix) -}}
    {{- end -}}
  {{- end -}}
  {{- if ne $data.partitions (toString .Values.kafka.partitions) -}}
    {{- $problems = append $problems (printf "kafka.partitions: the topics of this release were made with %s, and %v would send threads to other partitions; put it back: the number is chosen once" $data.partitions .Values.kafka.partitions) -}}
  {{- end -}}
  {{- if ne $data.database .Values.mongodb.database -}}
    {{- if ne .Values.dataGuard.moveFromDatabase $data.database -}}
      {{- $problems = append $problems (printf "mongodb.database: the threads of this release are in `%s`, and `%s` would begin without them; put it back, or restore them there and set dataGuard.moveFromDatabase to `%s`" $data.database .Values.mongodb.database $data.database) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if $problems -}}
  {{- fail (printf "\n\nThis upgrade would orphan data:\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end }}
