import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { fileVariableOf } from '#shared/config/secrets/secret-files.ts';
import { parseRedisAddress } from '#shared/redis/redis-address.ts';
import { SCOPES } from '#shared/tenants/key-store.ts';
import { COMPONENTS } from '../../package/chart/components.ts';
import { manifestsIn } from './manifests.ts';
import type { Resource } from './kubernetes-schemas.ts';
import { buildOverlay, deploymentsOf, kubectl, type Rendered, type RenderedDeployment } from './rendered.ts';
import { ENVIRONMENT_NAMES, mayHold, inRepository, read, SECRETS } from './repository.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Loose {
  [name: string]: Loose & string;
}
interface ScaledObject {
  spec: {
    scaleTargetRef: { name: string };
    fallback: { failureThreshold: number };
    triggers: [{ metadata: Record<string, string>; authenticationRef: { name: string } }];
  };
}
interface TriggerAuthentication {
  spec: { secretTargetRef: [{ name: string; key: string; parameter: string }] };
}
const OF_POD = { POD_NAME: 'metadata.name', POD_NAMESPACE: 'metadata.namespace' };
const examples = new Map(
  manifestsIn('secret.example.yaml').map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData ?? {})]),
);
const production: Rendered = kubectl === null ? {} : buildOverlay('k8s/overlays/production');
const withCertificates: Rendered = kubectl === null ? {} : buildOverlay('k8s/overlays/production-tls');
const deployments = deploymentsOf(withCertificates);
const cases = deployments.map((deployment) => [deployment.metadata.name, deployment] as const);
const containerOf = ({ spec }: RenderedDeployment) => spec.template.spec.containers[0];
const serviceOf = (deployment: RenderedDeployment): string => containerOf(deployment).command[1]?.split('/')[1] ?? '';
const ofKind = (kind: string): (Resource & { spec: Loose })[] =>
  Object.values(withCertificates).filter((resource) => resource.kind === kind) as (Resource & { spec: Loose })[];
const configuration = (rendered: Rendered): Record<string, string> =>
  (rendered['ConfigMap/muster'] as unknown as { data: Record<string, string> }).data;

it('every component is a switch of the chart', () => {
  expect(Object.values(COMPONENTS).toSorted()).toEqual(readdirSync(inRepository('k8s/components')).toSorted());
});

describe.runIf(kubectl !== null)('the overlay for production', () => {
  it.each(cases)('gives %s only variables that the configuration knows, with values that it takes', (_name, deployment) => {
    const given = { ...configuration(withCertificates) };
    const env = containerOf(deployment).env ?? [];
    for (const { name, value } of env.filter(({ valueFrom }) => valueFrom === undefined)) given[name] = value;
    // What a pod is called, for who scales it.
    const ofPod = env.flatMap(({ name, valueFrom }) => (valueFrom ? [[name, valueFrom.fieldRef.fieldPath]] : []));
    expect(ofPod).toEqual(serviceOf(deployment) === 'worker' ? Object.entries(OF_POD) : []);
    expect(Object.keys(given).filter((name) => !ENVIRONMENT_NAMES.has(name))).toEqual([]);
    const set = Object.entries(given).filter(([, value]) => value !== '');
    expect(environmentSchema.safeParse(Object.fromEntries(set)).error?.issues).toBeUndefined();
  });

  it.each(cases)('mounts for %s each file that a variable names, of a secret that it needs and that has it', (_name, deployment) => {
    const { env = [], envFrom = [], volumeMounts = [] } = containerOf(deployment);
    const variables = { ...configuration(withCertificates), ...Object.fromEntries(env.map(({ name, value }) => [name, value])) };
    const files = Object.entries(variables).filter(([name]) => [...SECRETS].some((secret) => fileVariableOf(secret) === name));
    expect(files.length).toBeGreaterThan(1);
    for (const [variable, path] of files) {
      const secret = secretAt(deployment, path);
      const key = path.slice(path.lastIndexOf('/') + 1);
      expect(fileVariableOf(key)).toBe(variable);
      expect(examples.get(secret)).toContain(key);
      expect(mayHold(serviceOf(deployment), key)).toBe(true);
      // Given in both ways, the service would not start.
      expect(envFrom.map(({ secretRef }) => secretRef?.name)).not.toContain(secret);
    }
    for (const { mountPath } of volumeMounts.filter((mount) => mount.mountPath.startsWith('/run/secrets'))) {
      expect(examples.has(secretAt(deployment, `${mountPath}/x`))).toBe(true);
    }
  });

  it('has the certificate for Redis where the address of its comment names it', () => {
    const address = /rediss:\/\/muster:\S+/.exec(read('k8s/components/redis-tls/kustomization.yaml'))?.[0] ?? '';
    const paths = [...new URL(address).searchParams.values()];
    expect(paths.map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual(examples.get('muster-redis-tls'));
    for (const [, deployment] of cases) for (const path of paths) expect(secretAt(deployment, path)).toBe('muster-redis-tls');
    expect(() => parseRedisAddress(address)).toThrow(/ENOENT/);
  });

  it('keeps a secret from every service that does not need it', () => {
    for (const deployment of deployments) {
      const volumes = deployment.spec.template.spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
      const given = [...volumes, ...(containerOf(deployment).envFrom ?? []).flatMap(({ secretRef }) => secretRef?.name ?? [])];
      const keys = given.flatMap((name) => examples.get(name) ?? ['of no example']).filter((name) => SECRETS.has(name));
      expect(keys.filter((name) => !mayHold(serviceOf(deployment), name))).toEqual([]);
      expect(given.includes('muster-commands')).toBe(deployment.metadata.name === 'worker-commands');
    }
  });

  it('refers to accounts, classes, claims and deployments that it brings', () => {
    const referred = deployments.flatMap(({ spec: { template } }) => {
      const { serviceAccountName: account, priorityClassName: priority, volumes } = template.spec;
      const claims = volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
      return [
        ...(account ? [`ServiceAccount/${account}`] : []),
        `PriorityClass/${priority}`,
        ...claims.map((name) => `PersistentVolumeClaim/${name}`),
      ];
    });
    expect(new Set(referred).size).toBe(4);
    expect(referred.filter((id) => withCertificates[id] === undefined)).toEqual([]);
    expect(Object.keys(withCertificates).filter((id) => id.endsWith('/redis'))).toEqual([]);
  });

  it('lets workers alone patch pods, and each only the annotations of its own', () => {
    const withAccount = deployments.filter(({ spec }) => spec.template.spec.serviceAccountName !== undefined);
    expect(withAccount.map(serviceOf)).toEqual(withAccount.map(() => 'worker'));
    for (const { spec } of deployments) {
      expect(spec.template.spec.automountServiceAccountToken).toBe(spec.template.spec.serviceAccountName !== undefined);
    }
    const role = withCertificates['Role/muster-worker'] as unknown as { rules: object[] };
    expect(role.rules).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] }]);
    const [policy] = ofKind('ValidatingAdmissionPolicy');
    expect(JSON.stringify(policy?.spec['validations'])).toContain('object.spec == oldObject.spec');
    expect(policy?.spec['failurePolicy']).toBe('Fail');
    expect(ofKind('ValidatingAdmissionPolicyBinding')[0]?.spec['policyName']).toBe(policy?.metadata.name);
  });

  it('asks the API by KEDA for each group that it scales, whose replicas are no longer the deployment’s', () => {
    const scaled = ofKind('ScaledObject');
    expect(scaled.length).toBeGreaterThan(1);
    for (const { spec } of scaled as unknown as ScaledObject[]) {
      const deployment = deployments.find(({ metadata }) => metadata.name === spec.scaleTargetRef.name)!;
      expect(deployment.spec.replicas).toBeUndefined();
      expect(spec.fallback.failureThreshold).toBe(3);
      const [{ metadata, authenticationRef }] = spec.triggers;
      const group = containerOf(deployment).env?.find(({ name }) => name === 'MUSTER_WORKER_GROUP')?.value;
      const url = `http://api.muster.svc/v1/scaling/${group}`;
      expect(metadata).toEqual({ url, valueLocation: 'desired', targetValue: '1', authMode: 'bearer' });
      const authentication = withCertificates[`TriggerAuthentication/${authenticationRef.name}`] as unknown as TriggerAuthentication;
      const [{ name, key, parameter }] = authentication.spec.secretTargetRef;
      expect([parameter, examples.get(name)]).toEqual(['token', [key]]);
    }
    // Of the service, of the route, and of its answer.
    expect(withCertificates['Service/api']).toMatchObject({ spec: { ports: [{ port: 80 }] } });
    const route = read('services/api/fleet/scaling.ts');
    for (const part of ["path: '/v1/scaling/:group'", 'desired: count']) expect(route).toContain(part);
    expect(SCOPES).toContain('scaling');
  });

  it('has policies for pods that there are, and for ports that they have', () => {
    const names = new Set([...deployments.map(({ metadata }) => metadata.name), 'redis']);
    const policies = JSON.stringify(ofKind('NetworkPolicy'));
    const named = [...policies.matchAll(/"values":\[([^\]]+)\]/g)].flatMap(([, list = '']) => JSON.parse(`[${list}]`) as string[]);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
    const ports = [...policies.matchAll(/"port":"(\w+)"/g)].map(([, port]) => port);
    expect(new Set(ports)).toEqual(new Set(['http', 'redis']));
    expect(withCertificates['NetworkPolicy/muster-default']).toMatchObject({
      spec: { policyTypes: ['Ingress', 'Egress'], podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'muster' } } },
    });
  });

  it('runs programs of agents in a pool of their own, which serves nothing else', () => {
    const pool = deployments.find(({ metadata }) => metadata.name === 'worker-commands');
    const env = Object.fromEntries((containerOf(pool!).env ?? []).map(({ name, value }) => [name, value]));
    expect(env).toMatchObject({ MUSTER_CAPABILITIES: 'commands', MUSTER_QUEUES: 'remote=2,deliveries=0' });
    expect(read('docs/deploy.md')).toContain("`capabilities: ['commands']`");
  });

  it('spreads tenants over a cluster, where there is one', () => {
    expect(Number(configuration(buildOverlay('k8s/overlays/production-cluster'))['SHARDS'])).toBeGreaterThan(1);
    expect(configuration(production)['SHARDS']).toBeUndefined();
  });
});

it('the autoscaler without KEDA goes by a metric that the API has, with labels of its queues', () => {
  const text = read('k8s/components/prometheus-scaling/scalers.yaml');
  const [, metric = ''] = /name: (muster_\w+)/.exec(text) ?? [];
  expect(read('services/api/metrics/fleet-gauges.ts')).toContain(`name: '${metric}'`);
  expect(read('docs/deploy.md')).toContain(`seriesQuery: '${metric}{`);
});

/** The name of the secret that a file in a pod comes from. */
function secretAt(deployment: RenderedDeployment, path: string): string {
  const mount = containerOf(deployment).volumeMounts?.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
  return deployment.spec.template.spec.volumes.find(({ name }) => name === mount?.name)?.secret?.secretName ?? '';
}
