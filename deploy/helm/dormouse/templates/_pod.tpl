{{/* Where secrets are mounted; URLs of MongoDB may name certificates there. */}}
{{- define "dormouse.secretsAt" -}}/var/run/dormouse{{- end }}

{{- define "dormouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "dormouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
capabilities: { drop: [ALL] }
{{- end }}

{{/* The names of the variables that the chart sets, for the check of extraEnv. */}}
{{- define "dormouse.ownVariables" -}}
{{- list "DORMOUSE_HOST" "DORMOUSE_PORT" "DORMOUSE_HEALTH_PORT" "DORMOUSE_LOG_LEVEL" "DORMOUSE_KAFKA_BROKERS" "DORMOUSE_KAFKA_PREFIX" "DORMOUSE_KAFKA_PARTITIONS" "DORMOUSE_KAFKA_REPLICATION" "DORMOUSE_KAFKA_TLS" "DORMOUSE_KAFKA_TLS_CA_FILE" "DORMOUSE_KAFKA_TLS_CERT_FILE" "DORMOUSE_KAFKA_TLS_KEY_FILE" "DORMOUSE_KAFKA_SASL_FILE" "DORMOUSE_MONGO_URL_FILE" "DORMOUSE_MONGO_DATABASE" "DORMOUSE_REDIS_URL_FILE" "DORMOUSE_REDIS_TLS_CA_FILE" "DORMOUSE_REDIS_TLS_CERT_FILE" "DORMOUSE_REDIS_TLS_KEY_FILE" "DORMOUSE_MASTER_KEY_FILE" "DORMOUSE_BOOTSTRAP_KEY_FILE" "DORMOUSE_PLATFORM_KEY_FILE" "DORMOUSE_CALLBACK_BASE_URL" "DORMOUSE_PLAIN_HTTP_CALLBACKS" "DORMOUSE_PUBLIC_URL" "DORMOUSE_ALLOWED_ORIGINS" "DORMOUSE_OUTBOUND_ALLOW" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_PROTOCOL" "OTEL_METRICS_EXPORTER" | toJson -}}
{{- end }}

{{/* Input: root, key (of the service, or `setup`). */}}
{{- define "dormouse.env" -}}
{{- $values := .root.Values -}}
{{- $at := include "dormouse.secretsAt" . -}}
- { name: DORMOUSE_HOST, value: {{ $values.listenAddress | quote }} }
- { name: DORMOUSE_PORT, value: "7420" }
- { name: DORMOUSE_HEALTH_PORT, value: "7429" }
- { name: DORMOUSE_LOG_LEVEL, value: {{ $values.logLevel | quote }} }
- { name: DORMOUSE_KAFKA_BROKERS, value: {{ include "dormouse.brokers" .root | fromJsonArray | join "," | quote }} }
- { name: DORMOUSE_KAFKA_PREFIX, value: {{ $values.kafka.prefix | quote }} }
{{- if eq .key "setup" }}
- { name: DORMOUSE_KAFKA_PARTITIONS, value: {{ $values.kafka.partitions | toString | quote }} }
{{- with $values.kafka.replication }}
- { name: DORMOUSE_KAFKA_REPLICATION, value: {{ . | toString | quote }} }
{{- end }}
{{- end }}
{{- with $values.kafka.tls }}
{{- if .enabled }}
- { name: DORMOUSE_KAFKA_TLS, value: "true" }
{{- with .ca }}
- { name: DORMOUSE_KAFKA_TLS_CA_FILE, value: {{ printf "%s/kafka-tls/%s" $at . | quote }} }
{{- end }}
{{- with .certificate }}
- { name: DORMOUSE_KAFKA_TLS_CERT_FILE, value: {{ printf "%s/kafka-tls/%s" $at . | quote }} }
{{- end }}
{{- with .key }}
- { name: DORMOUSE_KAFKA_TLS_KEY_FILE, value: {{ printf "%s/kafka-tls/%s" $at . | quote }} }
{{- end }}
{{- end }}
{{- end }}
{{- if $values.kafka.sasl.existingSecret }}
- { name: DORMOUSE_KAFKA_SASL_FILE, value: {{ $at }}/kafka-sasl/{{ $values.kafka.sasl.key }} }
{{- end }}
- { name: DORMOUSE_MONGO_URL_FILE, value: {{ $at }}/mongodb/{{ $values.mongodb.key }} }
- { name: DORMOUSE_MONGO_DATABASE, value: {{ $values.mongodb.database | quote }} }
- { name: DORMOUSE_REDIS_URL_FILE, value: {{ $at }}/redis/{{ $values.redis.key }} }
{{- with $values.redis.tls }}
{{- with .ca }}
- { name: DORMOUSE_REDIS_TLS_CA_FILE, value: {{ printf "%s/redis-tls/%s" $at . | quote }} }
{{- end }}
{{- with .certificate }}
- { name: DORMOUSE_REDIS_TLS_CERT_FILE, value: {{ printf "%s/redis-tls/%s" $at . | quote }} }
{{- end }}
{{- with .key }}
- { name: DORMOUSE_REDIS_TLS_KEY_FILE, value: {{ printf "%s/redis-tls/%s" $at . | quote }} }
{{- end }}
{{- end }}
- { name: DORMOUSE_MASTER_KEY_FILE, value: {{ $at }}/master/{{ $values.keys.master.key }} }
- { name: DORMOUSE_CALLBACK_BASE_URL, value: {{ include "dormouse.callbackBase" .root | quote }} }
{{- if $values.callbacks.plainHttp }}
- { name: DORMOUSE_PLAIN_HTTP_CALLBACKS, value: "true" }
{{- end }}
{{- if ne .key "setup" }}
- { name: DORMOUSE_PUBLIC_URL, value: {{ $values.publicUrl | quote }} }
{{- with $values.outboundAllow }}
- { name: DORMOUSE_OUTBOUND_ALLOW, value: {{ join "," . | quote }} }
{{- end }}
{{- if $values.telemetry.endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ $values.telemetry.endpoint | quote }} }
- { name: OTEL_EXPORTER_OTLP_PROTOCOL, value: {{ $values.telemetry.protocol | quote }} }
- { name: OTEL_METRICS_EXPORTER, value: none }
{{- end }}
{{- end }}
{{- if eq .key "ingressGateway" }}
{{- with $values.allowedOrigins }}
- { name: DORMOUSE_ALLOWED_ORIGINS, value: {{ join "," . | quote }} }
{{- end }}
- { name: DORMOUSE_BOOTSTRAP_KEY_FILE, value: {{ $at }}/bootstrap/{{ $values.keys.bootstrap.key }} }
{{- if $values.keys.platform.existingSecret }}
- { name: DORMOUSE_PLATFORM_KEY_FILE, value: {{ $at }}/platform/{{ $values.keys.platform.key }} }
{{- end }}
{{- end }}
{{- end }}

{{/* The Secrets of a pod, each a folder of the same name: [{name, secret}]. Input: root, key. Output: JSON. */}}
{{- define "dormouse.secretFolders" -}}
{{- $values := .root.Values -}}
{{- $folders := list (dict "name" "master" "secret" $values.keys.master.existingSecret) (dict "name" "mongodb" "secret" $values.mongodb.existingSecret) (dict "name" "redis" "secret" $values.redis.existingSecret) -}}
{{- if $values.kafka.sasl.existingSecret }}{{ $folders = append $folders (dict "name" "kafka-sasl" "secret" $values.kafka.sasl.existingSecret) }}{{ end -}}
{{- if and $values.kafka.tls.enabled $values.kafka.tls.existingSecret }}{{ $folders = append $folders (dict "name" "kafka-tls" "secret" $values.kafka.tls.existingSecret) }}{{ end -}}
{{- if $values.redis.tls.existingSecret }}{{ $folders = append $folders (dict "name" "redis-tls" "secret" $values.redis.tls.existingSecret) }}{{ end -}}
{{- if eq .key "ingressGateway" -}}
  {{- $folders = append $folders (dict "name" "bootstrap" "secret" $values.keys.bootstrap.existingSecret) -}}
  {{- if $values.keys.platform.existingSecret }}{{ $folders = append $folders (dict "name" "platform" "secret" $values.keys.platform.existingSecret) }}{{ end -}}
{{- end -}}
{{- $folders | toJson -}}
{{- end }}

{{- define "dormouse.secretMounts" -}}
{{- range include "dormouse.secretFolders" . | fromJsonArray }}
- { name: {{ .name }}, mountPath: {{ include "dormouse.secretsAt" $ }}/{{ .name }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "dormouse.secretVolumes" -}}
{{- range include "dormouse.secretFolders" . | fromJsonArray }}
- { name: {{ .name }}, secret: { secretName: {{ .secret | quote }}, defaultMode: 0440 } }
{{- end }}
{{- end }}

{{/* Over zones first, then over nodes; a constraint without a selector gets that of the service. Input: root, component,
constraints (null for these). */}}
{{- define "dormouse.spread" -}}
{{- $selector := dict "matchLabels" (include "dormouse.selector" . | fromYaml) -}}
{{- $constraints := .constraints -}}
{{- if kindIs "invalid" $constraints -}}
  {{- $constraints = list (dict "maxSkew" 1 "topologyKey" "topology.kubernetes.io/zone" "whenUnsatisfiable" "ScheduleAnyway") (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- end -}}
{{- range $constraints }}
- {{ merge (deepCopy .) (dict "labelSelector" $selector) | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}
