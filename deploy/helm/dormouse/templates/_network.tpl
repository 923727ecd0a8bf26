{{/* One egress rule: `to` may be empty, which is every destination. Input: to, ports (numbers). */}}
{{- define "dormouse.egress" -}}
- ports:
    {{- range .ports }}
    - { protocol: TCP, port: {{ . | int }} }
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The ports of the brokers, each once. Output: JSON. */}}
{{- define "dormouse.brokerPorts" -}}
{{- $ports := list -}}
{{- range include "dormouse.brokers" . | fromJsonArray }}{{ $ports = append $ports (regexFind "[0-9]+$" .) }}{{ end -}}
{{- $ports | uniq | sortAlpha | toJson -}}
{{- end }}

{{/* An entry of outboundAllow. A range becomes its addresses and its port, or every port; a policy knows no host names,
so a host becomes its port to every address, and the product's own guard judges the rest. Output: YAML. */}}
{{- define "dormouse.allowedEgress" -}}
{{- $plain := hasPrefix "http://" . -}}
{{- $rest := regexReplaceAll "^https?://" . "" -}}
{{- $host := $rest -}}
{{- $port := "" -}}
{{- if hasPrefix "[" $rest -}}
  {{- $host = regexReplaceAll "^\\[([^\\]]+)\\].*$" $rest "${1}" -}}
  {{- $port = regexReplaceAll "^\\[[^\\]]+\\]:?" $rest "" -}}
{{- else if eq (len (splitList ":" $rest)) 2 -}}
  {{- $host = index (splitList ":" $rest) 0 -}}
  {{- $port = index (splitList ":" $rest) 1 -}}
{{- end -}}
{{- $isV6 := contains ":" $host -}}
{{- if or $isV6 (regexMatch "^[0-9.]+(/[0-9]+)?$" $host) -}}
  {{- $cidr := $host -}}
  {{- if not (contains "/" $host) }}{{ $cidr = printf "%s/%s" $host (ternary "128" "32" $isV6) }}{{ end -}}
- to: [{ ipBlock: { cidr: {{ $cidr | quote }} } }]
  ports: [{ protocol: TCP, {{ if $port }}port: {{ $port }}{{ else }}port: 1, endPort: 65535{{ end }} }]
{{- else -}}
- ports: [{{ if $port }}{ protocol: TCP, port: {{ $port }} }{{ else }}{ protocol: TCP, port: 443 }{{ if $plain }}, { protocol: TCP, port: 80 }{{ end }}{{ end }}]
{{- end -}}
{{- end }}

{{/* The port of the telemetry endpoint. */}}
{{- define "dormouse.telemetryPort" -}}
{{- $port := regexFind ":[0-9]+$" (get (urlParse .) "host") | trimPrefix ":" -}}
{{- default (ternary "443" "80" (hasPrefix "https:" .)) $port -}}
{{- end }}
