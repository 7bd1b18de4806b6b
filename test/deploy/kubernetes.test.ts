import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { WITHOUT_FILES } from '#shared/lifecycle/open-parts.ts';
import { isQueueName, WORKER_QUEUES, slotsOf, type WorkerQueue } from '#shared/queue/queue-names.ts';
import {
  type Container,
  type Workload,
  base,
  baseFiles,
  deployments,
  development,
  ingressPaths,
  literals,
  manifestsIn,
  ofKind,
  ofSharedFiles,
  sharedFiles,
} from './manifests.ts';
import { ENVIRONMENT_NAMES, exists, mayHold, pathsOf, read, SECRETS, SERVICES, sourceOf } from './repository.ts';

/** The secret of the Redis itself, which no service is given. */
const OF_REDIS = 'muster-redis-server';
/** Those that no service of the base reads variables from: of that Redis, and of components. */
const OF_OTHERS = [OF_REDIS, 'muster-redis-tls', 'muster-commands', 'muster-scaling'];
const config = literals(base.configMapGenerator[0]?.literals ?? []);
const cases = deployments.map((workload) => [workload.metadata.name, workload] as const);
const containerOf = ({ spec }: Workload): Container => spec.template.spec.containers[0];
const containerUser = (): unknown => deployments[0]?.spec.template.spec.securityContext['runAsGroup'];
const serviceOf = (workload: Workload): string => containerOf(workload).command[1]?.split('/')[1] ?? '';

/** Of an amount such as `512Mi` or `1Gi`. */
function mebibytesOf(amount = ''): number {
  const [, count, unit] = /^(\d+)(Mi|Gi)$/.exec(amount) ?? [];
  return Number(count) * (unit === 'Gi' ? 1024 : 1);
}

describe('the kustomize base', () => {
  it('applies every file beside it but the example of the secret', () => {
    const applied = baseFiles.filter((file) => !['kustomization.yaml', 'secret.example.yaml'].includes(file));
    expect(base.resources.toSorted()).toEqual(applied.toSorted());
  });

  it('runs every service', () => {
    expect([...new Set(deployments.map(serviceOf))].toSorted()).toEqual(SERVICES.toSorted());
  });

  it.each(cases)('starts %s by a file that is there, from the image of all', (_name, workload) => {
    const { command, image } = containerOf(workload);
    expect(command[0]).toBe('node');
    expect(exists(sourceOf(command[1] ?? ''))).toBe(true);
    expect(image).toBe('muster');
  });

  it('sets only variables that the configuration knows, with values that it takes', () => {
    const ours = manifestsIn('secret.example.yaml').filter(({ metadata }) => !OF_OTHERS.includes(metadata.name));
    const secret = Object.assign({}, ...ours.map(({ stringData }) => stringData)) as Record<string, string>;
    const inOverlay = [
      ...development.configMapGenerator,
      ...(development.secretGenerator ?? []).filter(({ name }) => name !== OF_REDIS),
    ].flatMap((generator) => generator.literals);
    const inPods = deployments.flatMap((workload) => containerOf(workload).env ?? []).map(({ name, value }) => `${name}=${value}`);
    for (const given of [config, secret, literals(inOverlay), ...inPods.map((line) => literals([line]))]) {
      expect(Object.keys(given).filter((name) => !ENVIRONMENT_NAMES.has(name))).toEqual([]);
      const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
      expect(environmentSchema.safeParse(set).error?.issues).toBeUndefined();
    }
  });

  it.each(cases)('gives %s the configuration, and then the secrets that it needs, which win', (_name, workload) => {
    const [first, ...others] = containerOf(workload).envFrom ?? [];
    expect(first).toEqual({ configMapRef: { name: 'muster' } });
    expect(base.configMapGenerator.map(({ name }) => name)).toEqual(['muster']);
    const examples = new Map(manifestsIn('secret.example.yaml').map(({ metadata, stringData }) => [metadata.name, stringData ?? {}]));
    const given = others.flatMap(({ secretRef }) => Object.keys(examples.get(secretRef?.name ?? '') ?? { 'of no example': '' }));
    expect(given.filter((name) => SECRETS.has(name) && !mayHold(serviceOf(workload), name))).toEqual([]);
    expect(given).toContain('REDIS_URL');
    expect(others).toContainEqual({ secretRef: { name: 'muster-redis' } });
    expect(Object.keys(config).filter((name) => SECRETS.has(name))).toEqual([]);
  });

  it('gives every secret of the example to a service, and the API its key', () => {
    const used = new Set(deployments.flatMap((workload) => (containerOf(workload).envFrom ?? []).map(({ secretRef }) => secretRef?.name)));
    const unused = manifestsIn('secret.example.yaml').map(({ metadata }) => metadata.name);
    expect(unused.filter((name) => !used.has(name))).toEqual(OF_OTHERS);
    const api = deployments.find(({ metadata }) => metadata.name === 'api');
    // Not optional: without it the key would be in a log.
    expect(containerOf(api!).envFrom).toContainEqual({ secretRef: { name: 'muster-admin' } });
  });

  it.each(cases)('probes %s at the port that it listens on', (_name, workload) => {
    const { ports, livenessProbe, readinessProbe, startupProbe } = containerOf(workload);
    expect(ports).toEqual([{ name: 'http', containerPort: Number(config['PORT']) }]);
    expect(config['HOST']).toBe('0.0.0.0');
    expect(livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  });

  it.each(cases)('gives %s more time to stop than its waiting, its grace and the closing of connections take', (_name, workload) => {
    const waits = Number(containerOf(workload).lifecycle?.preStop.exec.command[1] ?? 0);
    const needed = waits + Number(config['SHUTDOWN_GRACE_MS']) / 1000 + 5;
    const { terminationGracePeriodSeconds } = workload.spec.template.spec;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(needed);
    // Doctor learns of it by the environment of a worker.
    const stated = containerOf(workload).env?.find(({ name }) => name === 'POD_TERMINATION_GRACE_SECONDS')?.value;
    expect(stated).toBe(workload.metadata.name.startsWith('worker') ? `${terminationGracePeriodSeconds}` : undefined);
  });

  it.each(cases)('lets %s do nothing that it need not', (_name, workload) => {
    expect(workload.spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(containerOf(workload).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(containerOf(workload).resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
  });

  it.each(cases)('keeps some of %s while nodes are drained, and selects its own pods only', (name, { spec }) => {
    expect(spec.replicas).toBeGreaterThan(1);
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    const budget = ofKind('PodDisruptionBudget').find(({ metadata }) => metadata.name === name);
    expect(budget?.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: spec.selector.matchLabels } });
    const twins = deployments.filter((other) => JSON.stringify(other.spec.selector) === JSON.stringify(spec.selector));
    expect(twins).toHaveLength(1);
  });

  it.each(cases)('replaces %s without a moment in which fewer pods serve, and spreads them over zones and nodes', (_name, { spec }) => {
    expect(spec.minReadySeconds).toBeGreaterThan(0);
    expect(spec.strategy).toMatchObject({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } });
    const spread = spec.template.spec.topologySpreadConstraints.map(({ topologyKey, whenUnsatisfiable, labelSelector }) => {
      expect(labelSelector).toEqual({ matchLabels: spec.selector.matchLabels });
      return [topologyKey, whenUnsatisfiable];
    });
    expect(spread).toEqual([
      ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
      ['kubernetes.io/hostname', 'ScheduleAnyway'],
    ]);
  });

  it('scales each kind of worker by a group of its own', () => {
    const workers = deployments.filter((workload) => serviceOf(workload) === 'worker');
    for (const workload of workers) {
      const group = containerOf(workload).env?.find(({ name }) => name === 'MUSTER_WORKER_GROUP')?.value;
      expect(`worker-${group}`).toBe(workload.metadata.name);
    }
  });

  it('serves every queue but the one of the hub, and critical work apart from the flood', () => {
    const groups = deployments
      .filter((workload) => serviceOf(workload) === 'worker')
      .map((workload) => slotsOf(settingsSchema.parse({}), containerOf(workload).env?.find(({ name }) => name === 'MUSTER_QUEUES')?.value));
    const served = new Set<WorkerQueue>(groups.flatMap((slots) => [...slots].flatMap(([name, count]) => (count > 0 ? [name] : []))));
    expect([...served].filter((name) => !isQueueName(name))).toEqual([]);
    expect(WORKER_QUEUES.filter((name) => !served.has(name))).toEqual(['remote']);
    expect(groups.find((slots) => slots.has('critical'))?.has('background')).toBe(false);
  });

  it('has somebody to bury what the commands of agents leave behind, where there are any', () => {
    const sharing = deployments.filter(({ spec }) => spec.template.spec.shareProcessNamespace);
    expect(sharing).toEqual(deployments.filter((workload) => serviceOf(workload) === 'worker'));
  });

  it('ends a command of an agent before it takes what the worker itself requests', () => {
    const workers = deployments.filter((workload) => serviceOf(workload) === 'worker');
    expect(workers.length).toBeGreaterThan(0);
    for (const workload of workers) {
      const { requests, limits } = containerOf(workload).resources;
      const memoryMb = Number(containerOf(workload).env?.find(({ name }) => name === 'MUSTER_COMMAND_MEMORY_MB')?.value);
      expect(memoryMb).toBeGreaterThan(0);
      expect(memoryMb + mebibytesOf(requests['memory'])).toBeLessThanOrEqual(mebibytesOf(limits['memory']));
    }
  });

  it('mounts a folder for files into every pod that stores or reads some, which one component makes a common one', () => {
    const folder = { name: 'files', mountPath: config['MUSTER_DATA_DIR'] };
    const withFiles = deployments.filter((workload) => containerOf(workload).volumeMounts?.some(({ name }) => name === folder.name));
    const expected = deployments.filter((workload) => !WITHOUT_FILES.has(serviceOf(workload)));
    expect(withFiles.map(({ metadata }) => metadata.name)).toEqual(expected.map(({ metadata }) => metadata.name));
    for (const workload of withFiles) {
      expect(containerOf(workload).volumeMounts).toContainEqual(folder);
      expect(workload.spec.template.spec.volumes).toContainEqual({ name: folder.name, emptyDir: {} });
    }
    const [patch] = sharedFiles.patches ?? [];
    const patched = new RegExp(`^(?:${patch?.target.name})$`);
    expect(deployments.filter(({ metadata }) => patched.test(metadata.name))).toEqual(withFiles);
    const operations = parse(patch?.patch ?? '') as { op: string; path: string; value: unknown }[];
    const [claim] = ofSharedFiles;
    const volume = { name: folder.name, persistentVolumeClaim: { claimName: claim?.metadata.name } };
    expect(operations).toContainEqual({ op: 'replace', path: '/spec/template/spec/volumes/1', value: volume });
    // The volume is of the user that the pods run as.
    expect(operations).toContainEqual({ op: 'add', path: '/spec/template/spec/securityContext/fsGroup', value: containerUser() });
    expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteMany'] } });
    expect(development.components).toEqual(['../../components/shared-files']);
    expect(development.patches?.map(({ target }) => target)).toContainEqual({ kind: 'PersistentVolumeClaim', name: claim?.metadata.name });
  });

  it('keeps a Redis that forgets nothing, at the address that the services are given', () => {
    const [redis] = ofKind('StatefulSet') as unknown as Workload[];
    const options = containerOf(redis!).args?.join(' ') ?? '';
    expect(options).toContain('--appendonly yes');
    expect(options).toContain('--maxmemory-policy noeviction');
    expect(redis?.spec.volumeClaimTemplates).toHaveLength(1);
    const examples = new Map(manifestsIn('secret.example.yaml').map(({ metadata, stringData }) => [metadata.name, stringData ?? {}]));
    const { hostname, port, password } = new URL(examples.get('muster-redis')?.['REDIS_URL'] ?? '');
    expect(options).toContain('--requirepass $(REDIS_PASSWORD)');
    const secretKeyRef = { name: OF_REDIS, key: 'REDIS_PASSWORD' };
    expect(containerOf(redis!).env).toEqual(['REDIS_PASSWORD', 'REDISCLI_AUTH'].map((name) => ({ name, valueFrom: { secretKeyRef } })));
    expect(examples.get(OF_REDIS)).toEqual({ REDIS_PASSWORD: password });
    const service = ofKind('Service').find(({ metadata }) => metadata.name === hostname);
    expect(service?.spec['ports']).toEqual([{ name: 'redis', port: Number(port), targetPort: 'redis' }]);
  });
});

/** As Kubernetes chooses: an exact match first, else the longest prefix by whole parts of the path. */
function backendOf(path: string): string | undefined {
  const exact = ingressPaths.find((rule) => rule.pathType === 'Exact' && rule.path === path);
  const prefixes = ingressPaths.filter((rule) => rule.pathType === 'Prefix' && `${path}/`.startsWith(`${rule.path}/`));
  return (exact ?? prefixes.toSorted((one, other) => other.path.length - one.path.length)[0])?.service;
}

describe('the Ingress', () => {
  it.each(SERVICES.filter((service) => !['scheduler', 'worker'].includes(service)))('leads every path of %s to it', (service) => {
    const paths = [...pathsOf(service), ...(service === 'api' ? ['/openapi.json', '/docs', '/docs/swagger-ui.css'] : [])];
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => backendOf(path) !== service)).toEqual([]);
  });

  it('keeps streams and WebSockets open for as long as a task runs, and lets each event through as it comes', () => {
    const [ingress] = ofKind('Ingress') as unknown as { metadata: { annotations: Record<string, string> } }[];
    const prefix = 'nginx.ingress.kubernetes.io/';
    const annotations = Object.entries(ingress?.metadata.annotations ?? {}).map(([name, value]) => [name.replace(prefix, ''), value]);
    expect(Object.fromEntries(annotations)).toEqual({
      'proxy-http-version': '1.1',
      'proxy-read-timeout': '3600',
      'proxy-send-timeout': '3600',
      'proxy-buffering': 'off',
      'proxy-request-buffering': 'off',
      'proxy-body-size': '32m',
    });
    // The gateway of compose does the same.
    const gateway = read('services/gateway.conf.template');
    for (const line of ['proxy_http_version 1.1', 'proxy_read_timeout 3600s', 'proxy_buffering off', 'client_max_body_size 32m']) {
      expect(gateway).toContain(`${line};`);
    }
  });

  it('keeps probes and metrics inside the cluster', () => {
    expect(['/metrics', '/healthz', '/readyz'].map(backendOf)).toEqual([undefined, undefined, undefined]);
  });

  it('names ports that the services have', () => {
    for (const { service: name, port } of ingressPaths) {
      const service = ofKind('Service').find(({ metadata }) => metadata.name === name);
      expect(service?.spec['ports']).toEqual([{ name: port, port: 80, targetPort: 'http' }]);
    }
  });
});
