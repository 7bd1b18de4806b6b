import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { useFolder } from '../support/use-folder.ts';
import { strictProblems, type Resource } from './kubernetes-schemas.ts';
import { kubectl, kustomize, resourcesIn } from './rendered.ts';
import { inRepository, read } from './repository.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The set-up is plain JavaScript without declarations: what is used of it is declared here. */
interface Init {
  createProject: (folder: string, options: { fleet: string; release: string }) => string[];
}
const { createProject } = (await import(inRepository('services/local/init/create-project.mjs'))) as Init;

const folder = await useFolder('muster-overlays-');
const project = join(folder, 'my-fleet');
createProject(project, { fleet: '0.0.0', release: '0.0.0' });
// As the package brings it.
const installed = join(project, 'node_modules/muster-fleet/k8s');
for (const part of ['base', 'components']) {
  mkdirSync(join(installed, part), { recursive: true });
  cpSync(inRepository(`k8s/${part}`), join(installed, part), { recursive: true });
}

const build = (path: string): Resource[] => resourcesIn(kustomize(path));

describe.runIf(kubectl !== null)('what kubectl makes of', () => {
  it.each([
    ['the base', inRepository('k8s/base')],
    ['the overlay for one machine', inRepository('k8s/overlays/development')],
    ['the overlay for production', inRepository('k8s/overlays/production')],
    ['the overlay for production with a cluster', inRepository('k8s/overlays/production-cluster')],
    ['the overlay for production with certificates', inRepository('k8s/overlays/production-tls')],
    ['the overlay of a new project', join(project, 'k8s')],
  ])('%s is what Kubernetes takes, to the letter', async (_name, path) => {
    const resources = build(path);
    expect(resources.length).toBeGreaterThan(20);
    expect(await strictProblems(resources)).toEqual([]);
  });

  it('the overlay of a new project has its image, its address and its host, everywhere', () => {
    const text = JSON.stringify(build(join(project, 'k8s')));
    const images = [...text.matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set(['registry.example.com/my-fleet:1', 'redis:7']));
    expect(text).toContain('"MUSTER_PUBLIC_URL":"https://my-fleet.example.com"');
    expect(text).toContain('"host":"my-fleet.example.com"');
    expect(text).not.toContain('muster.example.com');
  });

  it('an overlay whose patch has a misspelt field is not taken', async () => {
    const file = join(project, 'k8s/kustomization.yaml');
    const before = readFileSync(file, 'utf8');
    const patch = 'path: /spec/rules/0/hots';
    writeFileSync(file, before.replace('op: replace', 'op: add').replace('path: /spec/rules/0/host', patch));
    try {
      expect(await strictProblems(build(join(project, 'k8s')))).toEqual([expect.stringMatching(/^Ingress muster\(.*hots/)]);
    } finally {
      writeFileSync(file, before);
    }
  });
});

it('the autoscaler without KEDA is what Kubernetes takes, to the letter', async () => {
  expect(await strictProblems(resourcesIn(read('k8s/components/prometheus-scaling/scalers.yaml')))).toEqual([]);
});

it.each([
  ['a misspelt field', 'pollingIntervall', /pollingIntervall/],
  ['no triggers', 'triggers', /triggers/],
])('a scaler of KEDA with %s is not taken', async (_name, field, problem) => {
  const scaler = resourcesIn(read('k8s/components/keda/scaled-objects.yaml')).find(({ kind }) => kind === 'ScaledObject')!;
  const { [field]: removed, ...spec } = (scaler as unknown as { spec: Record<string, unknown> }).spec;
  const changed = removed === undefined ? { ...spec, [field]: 1 } : spec;
  expect((await strictProblems([{ ...scaler, spec: changed } as Resource])).join('\n')).toMatch(problem);
});

it('the example of the secrets is what Kubernetes takes, to the letter', async () => {
  expect(await strictProblems(resourcesIn(read('k8s/base/secret.example.yaml')))).toEqual([]);
});

interface Loose {
  [name: string]: Loose;
}

const worker = (): Resource => resourcesIn(read('k8s/base/worker-work.yaml')).find(({ kind }) => kind === 'Deployment')!;
const changed = (change: (resource: Loose) => void): Resource => {
  const resource = worker();
  change(resource as unknown as Loose);
  return resource;
};
const container = (resource: Loose): Loose => resource['spec']?.['template']?.['spec']?.['containers']?.['0'] ?? {};

describe('a deployment', () => {
  it.each<[string, (resource: Loose) => void, RegExp]>([
    ['a misspelt field', (resource) => Object.assign(container(resource), { imagePullPolice: 'Always' }), /imagePullPolice/],
    [
      'a misspelt field deep inside',
      (resource) => Object.assign(container(resource)['readinessProbe'] ?? {}, { periodSecond: 1 }),
      /periodSecond/,
    ],
    [
      'a number as a text',
      (resource) => Object.assign(resource['spec'] ?? {}, { replicas: '2' }),
      /replicas|'string' is not assignable to type 'number'/,
    ],
    [
      'a text that is none of those that there are',
      (resource) => Object.assign(container(resource), { imagePullPolicy: 'Sometimes' }),
      /Sometimes|imagePullPolicy/,
    ],
    ['no name of a container', (resource) => delete container(resource)['name'], /name/],
    ['no selector', (resource) => delete resource['spec']?.['selector'], /selector/],
    ['a kind that there is not', (resource) => Object.assign(resource, { kind: 'Deploiment' }), /Deploiment/],
  ])('with %s is not taken', async (_name, change, problem) => {
    expect(await strictProblems([worker()])).toEqual([]);
    expect((await strictProblems([changed(change)])).join('\n')).toMatch(problem);
  });
});
