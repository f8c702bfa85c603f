{{- define "mediary.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "mediary.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "mediary.labels" -}}
{{ include "mediary.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "mediary.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- include "mediary.fullname" . -}}
{{- else -}}
{{- required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The name of the Secret "shared" or "api": dict "root" $ "part" "shared". */}}
{{- define "mediary.secret" -}}
{{- $secret := index .root.Values.secrets .part -}}
{{- if $secret.existingSecret -}}
{{- $secret.existingSecret -}}
{{- else -}}
{{- printf "%s-%s" (include "mediary.fullname" .root) .part -}}
{{- end -}}
{{- end -}}

{{/* What pods of both kinds have: dict "root" $ "component" "api" "values" .Values.api. */}}
{{- define "mediary.podMetadata" -}}
annotations:
  checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
  checksum/secrets: {{ include (print .root.Template.BasePath "/secrets.yaml") .root | sha256sum }}
  {{- with .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
labels:
  {{- include "mediary.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "mediary.podSpec" -}}
serviceAccountName: {{ include "mediary.serviceAccount" .root }}
automountServiceAccountToken: false
# Variables such as MEDIARY_API_PORT would look like settings.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    {{- toYaml .root.Values.seccompProfile | nindent 4 }}
  {{- with .root.Values.appArmorProfile }}
  appArmorProfile:
    {{- toYaml . | nindent 4 }}
  {{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "mediary.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
{{- end -}}

{{- define "mediary.container" -}}
image: "{{ .root.Values.image.repository }}:{{ default .root.Chart.AppVersion .root.Values.image.tag }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
resources:
  {{- toYaml .values.resources | nindent 2 }}
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
# A start waits for the database, and may apply migrations.
startupProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 300
{{- end -}}
