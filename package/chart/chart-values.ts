import type { Replace } from './emit-template.ts';
import { z } from 'zod';
import type { Json, KubernetesObject } from './render-kustomize.ts';

/** What the values say of the chart by default: the base. */
export interface ChartValues {
  image: { repository: string; tag: string; pullPolicy: string };
  host: string;
  config: Record<string, string>;
  components: Record<string, boolean>;
  replicas: Record<string, number>;
  resources: Record<string, Json>;
  sharedFiles: { accessModes: string[]; storage: string; storageClassName: string };
  secrets: Record<string, Record<string, string>>;
}

const textsSchema = z.record(z.string(), z.string());
const containerSchema = z.object({ resources: z.json() });
const deploymentSchema = z.object({
  spec: z.object({ replicas: z.int(), template: z.object({ spec: z.object({ containers: z.tuple([containerSchema]) }) }) }),
});
const ingressSchema = z.object({ spec: z.object({ rules: z.tuple([z.object({ host: z.string() })]) }) });

export function valuesOf(objects: Iterable<KubernetesObject>, components: readonly string[]): ChartValues {
  const all = [...objects];
  const deployments = all
    .filter(({ kind }) => kind === 'Deployment')
    .map((object) => [object.metadata.name, deploymentSchema.parse(object)] as const);
  const config = textsSchema.parse(all.find(({ kind }) => kind === 'ConfigMap')?.['data']);
  const ingress = ingressSchema.parse(all.find(({ kind }) => kind === 'Ingress'));
  return {
    image: { repository: 'muster', tag: 'latest', pullPolicy: '' },
    host: ingress.spec.rules[0].host,
    config,
    components: Object.fromEntries(components.map((name) => [name, false])),
    replicas: Object.fromEntries(deployments.map(([name, { spec }]) => [name, spec.replicas])),
    resources: Object.fromEntries(deployments.map(([name, { spec }]) => [name, spec.template.spec.containers[0].resources])),
    sharedFiles: { accessModes: ['ReadWriteMany'], storage: '20Gi', storageClassName: '' },
    secrets: {},
  };
}

/** A property of the schema of the values, which refuses what there is not. */
type Schema = Record<string, unknown>;
const ANY_OBJECT: Schema = { type: 'object', additionalProperties: { type: 'object' } };
const TEXTS: Schema = { type: 'object', additionalProperties: { type: 'string' } };

/** The schema of the values, by which Helm refuses a misspelt one. */
export function schemaOf(values: ChartValues): Schema {
  const own: Record<string, Schema> = {
    config: TEXTS,
    resources: { ...ANY_OBJECT, propertyNames: { enum: Object.keys(values.resources) } },
    secrets: { type: 'object', additionalProperties: TEXTS },
  };
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOfValue(values, own) };
}

function schemaOfValue(value: unknown, own: Record<string, Schema> = {}): Schema {
  if (Array.isArray(value)) return { type: 'array', items: { type: 'string' } };
  if (typeof value !== 'object' || value === null) return { type: typeof value === 'number' ? 'integer' : typeof value };
  const properties = Object.entries(value).map(([name, member]) => [name, own[name] ?? schemaOfValue(member)]);
  // Helm gives every chart the values `global`.
  return { type: 'object', additionalProperties: false, properties: { ...Object.fromEntries(properties), global: {} } };
}

/** How values take the place of what an object says. */
export function replaceByValues(object: KubernetesObject): Replace {
  const { kind, metadata } = object;
  if (kind === 'ConfigMap') return replaceConfig(Object.keys(object['data'] ?? {}));
  return (path, indent, plain) => BY_KIND[kind]?.[path.join('.')]?.(indent, metadata.name, plain) ?? null;
}

/** What components add to the configuration stays as it is. */
function replaceConfig([first, ...others]: readonly string[]): Replace {
  return ([section, name = '', ...more], indent) => {
    if (section !== 'data' || more.length > 0) return null;
    if (name === first) return ['{{- range $name, $value := .Values.config }}', `${indent}{{ $name }}: {{ $value | quote }}`, '{{- end }}'];
    return others.includes(name) ? [] : null;
  };
}

type Line = (indent: string, name: string, plain: unknown) => string[];

const OF_DEPLOYMENT: Readonly<Record<string, Line>> = {
  'spec.replicas': (indent, name) => [`${indent}replicas: {{ index .Values.replicas "${name}" }}`],
  'spec.template.metadata.labels': (indent, _name, plain) => [
    `${indent}annotations:`,
    `${indent}  checksum/config: {{ toJson .Values.config | sha256sum }}`,
    `${indent}labels:`,
    ...Object.entries(textsSchema.parse(plain)).map(([label, value]) => `${indent}  ${label}: ${value}`),
  ],
  'spec.template.spec.containers.-.image': (indent) => [
    `${indent}image: {{ printf "%s:%s" .Values.image.repository .Values.image.tag | quote }}`,
    '{{- with .Values.image.pullPolicy }}',
    `${indent}imagePullPolicy: {{ . }}`,
    '{{- end }}',
  ],
  'spec.template.spec.containers.-.resources': (indent, name) => [
    `${indent}resources:`,
    `${indent}  {{- toYaml (index .Values.resources "${name}") | nindent ${indent.length + 2} }}`,
  ],
};

const BY_KIND: Readonly<Record<string, Readonly<Record<string, Line>>>> = {
  Deployment: OF_DEPLOYMENT,
  Ingress: { 'spec.rules.-.host': (indent) => [`${indent}host: {{ .Values.host | quote }}`] },
  RoleBinding: { 'subjects.-.namespace': (indent) => [`${indent}namespace: {{ .Release.Namespace }}`] },
  PersistentVolumeClaim: {
    'spec.accessModes': (indent) => [
      `${indent}accessModes:`,
      `${indent}  {{- toYaml .Values.sharedFiles.accessModes | nindent ${indent.length + 2} }}`,
    ],
    'spec.resources': (indent) => [
      `${indent}resources:`,
      `${indent}  requests:`,
      `${indent}    storage: {{ .Values.sharedFiles.storage }}`,
      '{{- with .Values.sharedFiles.storageClassName }}',
      `${indent}storageClassName: {{ . }}`,
      '{{- end }}',
    ],
  },
};
