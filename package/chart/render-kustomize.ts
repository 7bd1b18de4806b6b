import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const json = z.json();
const objectSchema = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }).catchall(json) }).catchall(json);
export type KubernetesObject = z.infer<typeof objectSchema>;

/** What kubectl makes of the base with some of its components, by kind and name. The ConfigMap is named without the digest of its content. */
export function renderKustomize(kubectl: string, root: string, components: readonly string[]): Map<string, KubernetesObject> {
  const drafts = join(root, 'node_modules/.cache/chart');
  mkdirSync(drafts, { recursive: true });
  const folder = mkdtempSync(join(drafts, 'draft-'));
  try {
    const at = (path: string): string => relative(folder, join(root, 'k8s', path));
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [at('base')],
      components: components.map((name) => at(`components/${name}`)),
    };
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(kustomization));
    return objectsIn(execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function objectsIn(text: string): Map<string, KubernetesObject> {
  const plain = text.replaceAll(/(name: muster)-[bcdfghkmt2-9]{10}$/gm, '$1');
  const objects = parseAllDocuments(plain).map((document) => objectSchema.parse(document.toJS()));
  return new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}
