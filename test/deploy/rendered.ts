import { execFileSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import type { Container } from './manifests.ts';
import type { Resource } from './kubernetes-schemas.ts';
import { inRepository } from './repository.ts';

/** The set-up is plain JavaScript without declarations: what is used of it is declared here. */
interface SetUp {
  findKubectl: (root: string) => Promise<string | null>;
  findHelm: (root: string) => Promise<string | null>;
}
const setUp = (await import(inRepository('services/local/set-up/provide-kubernetes.mjs'))) as SetUp;
export const kubectl = await setUp.findKubectl(inRepository('.'));
export const helm = await setUp.findHelm(inRepository('.'));

/** Objects by kind and name. */
export type Rendered = Record<string, Resource>;

interface RenderedContainer extends Container {
  env?: { name: string; value: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
}

/** A deployment as the cluster gets it. */
export interface RenderedDeployment extends Resource {
  spec: {
    replicas?: number;
    template: {
      spec: {
        serviceAccountName?: string;
        priorityClassName?: string;
        automountServiceAccountToken: boolean;
        containers: [RenderedContainer];
        volumes: { name: string; secret?: { secretName: string }; persistentVolumeClaim?: { claimName: string } }[];
      };
    };
  };
}

export const resourcesIn = (text: string): Resource[] =>
  parseAllDocuments(text).flatMap((document) => {
    const resource = document.toJS() as Resource | null;
    return resource === null ? [] : [resource];
  });

/** What is the same however it was made: names without digests of contents, no digest as an annotation, and the namespace of the whole. */
export function renderedIn(text: string): Rendered {
  const plain = text
    .replaceAll(/(name: [\w-]+?)-[bcdfghkmt2-9]{10}$/gm, '$1')
    .replaceAll(/^ *annotations:\n *checksum\/config: .*\n/gm, '');
  const resources = resourcesIn(plain);
  for (const { metadata } of resources) Reflect.deleteProperty(metadata, 'namespace');
  return Object.fromEntries(resources.map((resource) => [`${resource.kind}/${resource.metadata.name}`, resource]));
}

/** The text that kubectl makes of a folder. */
export const kustomize = (path: string): string => execFileSync(kubectl ?? '', ['kustomize', path], { encoding: 'utf8' });

export const buildOverlay = (path: string): Rendered => renderedIn(kustomize(inRepository(path)));

export const deploymentsOf = (rendered: Rendered): RenderedDeployment[] =>
  Object.values(rendered).filter(({ kind }) => kind === 'Deployment') as RenderedDeployment[];
