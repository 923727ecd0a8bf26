{{/*
What the chart knows of each service. `topic` and `group` are those that it consumes, `callsOut` says that it calls tool
servers or models, `door` is who may open a connection to its HTTP port.
*/}}
{{- define "dormouse.services" -}}
ingressGateway: { name: ingress-gateway, door: clientsFrom, callsOut: true }
callbackGateway: { name: callback-gateway, door: toolServersFrom, callsOut: false }
threadProcessor: { name: thread-processor, topic: inputs, group: thread-processor, callsOut: true }
toolDispatcher: { name: tool-dispatcher, topic: dispatches, group: tool-dispatcher, callsOut: true }
notifier: { name: notifier, topic: notices, group: notifier, callsOut: true }
{{- end }}

{{/* The values of one service: its own, and the global ones that it leaves open. Annotations and labels of both are
joined, and so are the lists that are called extra; everything else is replaced. Input: root, key. Output: JSON. */}}
{{- define "dormouse.settings" -}}
{{- $own := deepCopy (index .root.Values.services .key) -}}
{{- $all := deepCopy .root.Values.global -}}
{{- $merged := dict -}}
{{- range $name, $value := $all }}{{ $_ := set $merged $name $value }}{{ end -}}
{{- range $name, $value := $own }}{{ if not (kindIs "invalid" $value) }}{{ $_ := set $merged $name $value }}{{ end }}{{ end -}}
{{- range $name := list "podAnnotations" "podLabels" -}}
  {{- $_ := set $merged $name (merge (dict) (default (dict) (index $own $name)) (default (dict) (index $all $name))) -}}
{{- end -}}
{{- range $name := list "extraEnv" "extraVolumes" "extraVolumeMounts" -}}
  {{- $_ := set $merged $name (concat (default (list) (index $all $name)) (default (list) (index $own $name))) -}}
{{- end -}}
{{- $merged | toJson -}}
{{- end }}

{{- define "dormouse.labels" -}}
app.kubernetes.io/name: dormouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "dormouse.selector" -}}
app.kubernetes.io/name: dormouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "dormouse.image" -}}
{{- with .Values.image -}}
{{- $tag := default $.Chart.AppVersion .tag -}}
{{- if .digest }}{{ .repository }}:{{ $tag }}@{{ .digest }}{{ else }}{{ .repository }}:{{ $tag }}{{ end -}}
{{- end -}}
{{- end }}

{{/* A list, also where the older form is given: one text with commas. Output: JSON. */}}
{{- define "dormouse.brokers" -}}
{{- $given := .Values.kafka.brokers -}}
{{- if kindIs "string" $given -}}
  {{- $list := list -}}
  {{- range splitList "," $given }}{{ with trim . }}{{ $list = append $list . }}{{ end }}{{ end -}}
  {{- $list | toJson -}}
{{- else -}}
  {{- default (list) $given | toJson -}}
{{- end -}}
{{- end }}

{{- define "dormouse.callbackBase" -}}
{{- with .Values.callbacks -}}
{{- if .baseUrl }}{{ .baseUrl | trimSuffix "/" }}{{ else if .host }}https://{{ .host }}{{ end -}}
{{- end -}}
{{- end }}

{{/* The host name of a URL, without a port. */}}
{{- define "dormouse.hostOf" -}}
{{- regexReplaceAll ":[0-9]+$" (get (urlParse .) "host") "" -}}
{{- end }}

{{/* Values that are given in an older form, one sentence each; a release after the next refuses them. Output: JSON. */}}
{{- define "dormouse.deprecations" -}}
{{- $found := list -}}
{{- if kindIs "string" .Values.kafka.brokers -}}
  {{- $found = append $found "kafka.brokers: one text with commas is the older form; write a list, one host:port an item" -}}
{{- end -}}
{{- $found | toJson -}}
{{- end }}
