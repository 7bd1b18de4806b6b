import { readdirSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { inRepository, read } from './repository.ts';

interface Probe {
  httpGet: { path: string; port: string };
}

export interface Container {
  name: string;
  image: string;
  command: string[];
  args?: string[];
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports: { name: string; containerPort: number }[];
  livenessProbe: Probe;
  readinessProbe: Probe;
  startupProbe: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
  securityContext: Record<string, unknown>;
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
}

export interface Workload {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas: number;
    minReadySeconds: number;
    strategy: { type: string; rollingUpdate: Record<string, unknown> };
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        shareProcessNamespace?: boolean;
        topologySpreadConstraints: { topologyKey: string; whenUnsatisfiable: string; labelSelector: object }[];
        securityContext: Record<string, unknown>;
        containers: [Container];
        volumes?: { name: string; emptyDir?: object | null; persistentVolumeClaim?: { claimName: string } }[];
      };
    };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

export interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
  stringData?: Record<string, string>;
}

interface Kustomization {
  resources: string[];
  configMapGenerator: { name: string; behavior?: string; literals: string[] }[];
  secretGenerator?: { name: string; literals: string[] }[];
  components?: string[];
  patches?: { target: { kind: string; name?: string }; patch: string }[];
}

const BASE = 'k8s/base';
const SHARED_FILES = 'k8s/components/shared-files';

export const baseFiles: readonly string[] = readdirSync(inRepository(BASE));
export const base: Kustomization = parse(read(`${BASE}/kustomization.yaml`)) as Kustomization;
export const development: Kustomization = parse(read('k8s/overlays/development/kustomization.yaml')) as Kustomization;

/** The component that gives all pods one place for files. */
export const sharedFiles: Kustomization = parse(read(`${SHARED_FILES}/kustomization.yaml`)) as Kustomization;

export function manifestsIn(file: string, folder = BASE): Manifest[] {
  return parseAllDocuments(read(`${folder}/${file}`)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
    return document.toJS() as Manifest;
  });
}

export const ofSharedFiles: readonly Manifest[] = sharedFiles.resources.flatMap((file) => manifestsIn(file, SHARED_FILES));

const manifests: readonly Manifest[] = base.resources.flatMap((file) => manifestsIn(file));

export const ofKind = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);

interface IngressRule {
  http: { paths: { path: string; pathType: 'Exact' | 'Prefix'; backend: { service: { name: string; port: { name: string } } } }[] };
}

/** Which service the Ingress leads which paths to, and to which of its ports. */
export const ingressPaths = ofKind('Ingress')
  .flatMap(({ spec }) => spec['rules'] as IngressRule[])
  .flatMap(({ http }) => http.paths)
  .map(({ path, pathType, backend: { service } }) => ({ path, pathType, service: service.name, port: service.port.name }));

export const deployments: readonly Workload[] = ofKind('Deployment') as unknown as Workload[];

/** `NAME=value` lines of a generator. */
export function literals(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(given.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}
