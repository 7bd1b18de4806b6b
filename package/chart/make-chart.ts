import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { replaceByValues, schemaOf, valuesOf } from './chart-values.ts';
import { COMPONENTS } from './components.ts';
import { conditional, emitValue } from './emit-template.ts';
import { type KubernetesObject, renderKustomize } from './render-kustomize.ts';
import { addVariant, type Item, variantsOf } from './variants.ts';

/** The component that only adds a deployment, which others change as they change those of the base. */
const FIRST = 'commandWorkers';

interface ChartOptions {
  root: string;
  kubectl: string;
}

interface Part extends Item {
  object: KubernetesObject;
}

/** The files of the chart, by their paths in it: the base as templates, with a switch for each component. Kustomize says what each one changes. */
export function makeChart({ root, kubectl }: ChartOptions): Map<string, string> {
  const render = (names: readonly string[]): Map<string, KubernetesObject> =>
    renderKustomize(
      kubectl,
      root,
      names.map((name) => COMPONENTS[name] ?? name),
    );
  const [plain, base] = [render([]), render([FIRST])];
  const parts = new Map([...base].map(([id, object]) => [id, partOf(object, plain.has(id) ? undefined : FIRST)]));
  for (const component of Object.keys(COMPONENTS).filter((name) => name !== FIRST)) {
    addComponent(parts, base, render([FIRST, component]), component);
  }
  const values = valuesOf(base.values(), Object.keys(COMPONENTS));
  return new Map([
    ['Chart.yaml', stringify(metadataOf(root))],
    ['values.yaml', `${VALUES_HEAD}${stringify(values)}`],
    ['values.schema.json', `${JSON.stringify(schemaOf(values), null, 2)}\n`],
    ['templates/secrets.yaml', SECRETS],
    ...templatesOf([...parts.values()]),
  ]);
}

function partOf(object: KubernetesObject, component?: string): Part {
  const present = component === undefined ? [] : [component];
  return { object, value: variantsOf(object), plain: object, with: present, without: [] };
}

function addComponent(
  parts: Map<string, Part>,
  base: ReadonlyMap<string, KubernetesObject>,
  changed: ReadonlyMap<string, KubernetesObject>,
  component: string,
): void {
  for (const id of new Set([...base.keys(), ...changed.keys()])) {
    const [one, other] = [base.get(id), changed.get(id)];
    if (one === undefined && other !== undefined) parts.set(id, partOf(other, component));
    else if (other === undefined) parts.get(id)?.without.push(component);
    else if (one !== undefined && !isDeepStrictEqual(one, other)) addVariant(parts.get(id)!.value, one, other, component);
  }
}

/** What belongs together stands in one file: a deployment with its service, or what a component brings. */
function templatesOf(parts: readonly Part[]): [string, string][] {
  const ofWorkload = new Set(parts.filter(({ object }) => ['Deployment', 'StatefulSet'].includes(object.kind)).map(nameOf));
  const fileOf = (part: Part): string => {
    const [component = FIRST] = part.with;
    if (component !== FIRST) return COMPONENTS[component] ?? component;
    return ofWorkload.has(nameOf(part)) ? nameOf(part) : 'common';
  };
  return [...Map.groupBy(parts, fileOf)].map(([file, own]) => [`templates/${file}.yaml`, `${GENERATED}${own.map(emitPart).join('')}`]);
}

const nameOf = ({ object }: Part): string => object.metadata.name;

function emitPart(part: Part): string {
  const lines = ['---', ...emitValue(part.value, [], '', replaceByValues(part.object))];
  return `${conditional(part, lines).join('\n')}\n`;
}

const packageSchema = z.object({ version: z.string(), description: z.string() });

/** The chart has the version of what it deploys. */
function metadataOf(root: string): Record<string, unknown> {
  const { version, description } = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return { apiVersion: 'v2', name: 'muster', description, type: 'application', version, appVersion: version, kubeVersion: '>=1.30.0-0' };
}

const GENERATED = '{{- /* Made from k8s/base and k8s/components by `npm run chart`. */}}\n';

const VALUES_HEAD = `# Made from k8s/base and k8s/components by \`npm run chart\`: what an overlay of kustomize says, as values. k8s/overlays has values of its overlays.
# A component is one of k8s/components, where its kustomization.yaml says what it needs. \`secrets\` are for a cluster of one's own machine: elsewhere
# make them by \`kubectl create secret\`, as docs/deploy.md says.
`;

/** What is made by hand elsewhere: see \`secrets\` of the values. */
const SECRETS = `${GENERATED}{{- range $name, $data := .Values.secrets }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}
type: Opaque
data:
  {{- range $key, $value := $data }}
  {{ $key }}: {{ $value | b64enc }}
  {{- end }}
{{- end }}
`;
