import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentSchema } from '#shared/config/environment.ts';
import { isQueueName, WORKER_QUEUES, slotsOf } from '#shared/queue/queue-names.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { ingressPaths } from './manifests.ts';
import { ENVIRONMENT_NAMES, exists, mayHold, read, SECRETS, SERVICES } from './repository.ts';

interface ComposeService {
  /** Of Redis a line, of ours a list. */
  command: string | string[];
  environment: Record<string, string | number>;
  healthcheck: { test: string | string[] };
  depends_on: Record<string, { condition: string }>;
  stop_grace_period: string;
  init: boolean;
  restart: string;
  logging: { driver: string; options: Record<string, string> };
  ports?: string[];
  volumes?: string[];
  deploy?: { replicas: number };
  profiles?: string[];
  mem_limit: string;
  cpus: number;
  pids_limit: number;
  build: { dockerfile: string };
}

const { services, volumes } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
};
const { redis, gateway, prometheus, ...ours } = services;
const all = Object.entries(ours);

/** What compose makes of `${NAME:-fallback}` when nobody sets the name. */
function withoutVariables(value: string | number): string {
  const inner = String(value).replaceAll(/\$\{\w+:\+[^{}]*\}/g, '');
  return inner.replaceAll(/\$\{\w+(?::-([^{}]*)|:\?[^}]*)\}/g, (_all, fallback?: string) => fallback ?? 'set-by-the-operator');
}

function environmentOf(service: ComposeService): Record<string, string> {
  return Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, withoutVariables(value)]));
}

describe('docker-compose.yml', () => {
  it('runs every service, each by its own command', () => {
    expect(Object.keys(ours).toSorted()).toEqual(SERVICES.toSorted());
    for (const [name, { command }] of all) expect(command).toEqual(['node', `services/${name}/main.js`]);
    for (const [, { build }] of all) expect(exists(build.dockerfile)).toBe(true);
  });

  it.each(all)('gives %s only variables that the configuration knows, with values that it takes', (_name, service) => {
    const environment = environmentOf(service);
    expect(Object.keys(environment).filter((name) => !ENVIRONMENT_NAMES.has(name))).toEqual([]);
    const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
    expect(environmentSchema.safeParse(given).error?.issues).toBeUndefined();
  });

  it.each(all)('asks %s whether it is ready, at the port that it listens on', (_name, service) => {
    const port = environmentOf(service)['PORT'];
    // It asks at the same variable.
    expect(service.healthcheck.test).toEqual(['CMD', 'muster-healthy']);
    expect(read('services/healthy.sh')).toContain('/dev/tcp/127.0.0.1/${PORT:-3000}');
    for (const published of service.ports ?? []) expect(withoutVariables(published).split(':')[1]).toBe(port);
    expect(service).toMatchObject({ restart: 'unless-stopped', init: true, depends_on: { redis: { condition: 'service_healthy' } } });
  });

  it.each(all)('gives %s more time to stop than its own grace and the closing of connections take', (_name, service) => {
    const graceMs = Number(environmentOf(service)['SHUTDOWN_GRACE_MS']);
    expect(Number.parseInt(service.stop_grace_period, 10) * 1000).toBeGreaterThan(graceMs + 5000);
  });

  it('bounds what every service, Redis too, writes to its log', () => {
    for (const { logging } of Object.values(services)) {
      expect(logging).toEqual({
        driver: 'json-file',
        options: { 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.stringMatching(/^\d+$/) },
      });
    }
  });

  it('does not start without a key, and says so', () => {
    expect(ours['api']?.environment['MUSTER_ADMIN_KEY']).toMatch(/^\$\{MUSTER_ADMIN_KEY:\?.+\}$/);
  });

  it.each(all)('gives %s no secret that it does not need', (name, { environment }) => {
    const secrets = Object.keys(environment).filter((variable) => SECRETS.has(variable));
    expect(secrets.filter((variable) => !mayHold(name, variable))).toEqual([]);
  });

  it('puts no variable into the default of another, which docker-compose 1 leaves as it is', () => {
    const values = all.flatMap(([, { environment }]) => Object.values(environment).map(String));
    expect(values.filter((value) => /\$\{[^}]*\$\{|:\+/.test(value))).toEqual([]);
  });

  it('is reached by one address, whose gateway leads each path to the service that the Ingress leads it to', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports);
    expect(published.map(([name]) => name)).toEqual(['gateway', 'prometheus']);
    expect(prometheus?.ports).toEqual(['127.0.0.1:${PROMETHEUS_PORT:-9090}:9090']);
    const [mounted = ''] = (gateway?.volumes?.[0] ?? '').split(':');
    const routes = [...read(mounted).matchAll(/location (= )?(\/\S*) { proxy_pass \$(\w+); }/g)].map(
      ([, exact, path = '', service = '']) => ({ path, pathType: exact ? 'Exact' : 'Prefix', service }),
    );
    expect(routes).toEqual(ingressPaths.map(({ path, pathType, service }) => ({ path, pathType, service })));
    const port = environmentOf(ours['api']!)['PORT'];
    const targets = [...read(mounted).matchAll(/set \$(\w+) (\S+);/g)].map(([, name, target]) => [name, target]);
    for (const [name, target] of targets) expect(target).toBe(`http://${name}:${port}`);
    expect(new Set(targets.map(([name]) => name))).toEqual(new Set(routes.map(({ service }) => service)));
  });

  it('lets one user into Redis, with a password that every service is given and without which nothing starts', () => {
    const password = '${REDIS_PASSWORD:?set it}';
    const command = String(redis?.command);
    expect(command).toContain('--user default off');
    expect(command).toContain(`--user muster on >${password} ~muster:* &muster:* +@all -@admin -@dangerous +info`);
    expect(command).not.toContain('--protected-mode no');
    // The page says the same rights.
    const [, rights = ''] = /(~muster:\* .*)$/.exec(command.trim()) ?? [];
    expect(read('docs/deploy.md')).toContain(`user muster on >password ${rights}`);
    expect(redis?.environment).toEqual({ REDISCLI_AUTH: password });
    for (const [, { environment }] of all) {
      expect(environment['REDIS_URL']).toMatch(/^redis:\/\/muster:\$\{REDIS_PASSWORD:\?[^}]+\}@redis:6379$/);
    }
  });

  it('bounds the memory, processors and processes of every container', () => {
    for (const { mem_limit: memory, cpus, pids_limit: processes } of Object.values(services)) {
      expect([memory, cpus > 0, processes > 0]).toEqual([expect.stringMatching(/^\d+[mg]$/), true, true]);
    }
  });

  it('answers from another replica of the API while one is replaced', () => {
    expect(ours['api']?.deploy?.replicas).toBe(2);
    const text = read('services/gateway.conf.template');
    expect(text).toContain('proxy_next_upstream error timeout;');
    expect(text).toContain('proxy_connect_timeout 2s;');
  });

  it('has Prometheus look for the metrics of every service at its port, where somebody asks for it', () => {
    expect(prometheus?.profiles).toEqual(['metrics']);
    const [mounted = '', target] = (prometheus?.volumes?.[0] ?? '').split(':');
    expect(target).toBe('/etc/prometheus/prometheus.yml');
    const { scrape_configs: jobs } = parse(read(mounted)) as { scrape_configs: { dns_sd_configs: [{ names: string[]; port: number }] }[] };
    const found = jobs.flatMap(({ dns_sd_configs: [{ names, port }] }) => names.map((name) => `${name}:${port}`));
    expect(found.toSorted()).toEqual(all.map(([name, service]) => `${name}:${environmentOf(service)['PORT']}`).toSorted());
  });

  it('takes the scheme and the address of a caller from a proxy in front of it, and from nobody else', () => {
    const [mounted = '', target] = (gateway?.volumes?.[0] ?? '').split(':');
    expect(target).toBe('/etc/nginx/templates/default.conf.template');
    const text = read(mounted);
    const trusted = '${GATEWAY_TRUSTED_PROXY}';
    expect([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)).toEqual(['GATEWAY_TRUSTED_PROXY', 'GATEWAY_TRUSTED_PROXY']);
    expect(text).toContain(`set_real_ip_from ${trusted};`);
    expect(text).toContain(`geo $realip_remote_addr $is_trusted {\n  default 0;\n  ${trusted} 1;\n}`);
    expect(text).toMatch(/map \$is_trusted:\$http_x_forwarded_proto \$forwarded_proto \{\n {2}default \$scheme;/);
    expect(gateway?.environment).toEqual({
      GATEWAY_TRUSTED_PROXY: '${GATEWAY_TRUSTED_PROXY:-127.0.0.1}',
      NGINX_ENVSUBST_FILTER: '^GATEWAY_',
    });
  });

  it('has several workers, which serve every queue but the one of the hub', () => {
    const worker = ours['worker'];
    expect(worker?.deploy?.replicas).toBeGreaterThan(1);
    const slots = slotsOf(settingsSchema.parse({}), environmentOf(worker!)['MUSTER_QUEUES']);
    expect([...slots.keys()].filter((name) => !isQueueName(name))).toEqual([]);
    expect(WORKER_QUEUES.filter((name) => !slots.get(name))).toEqual(['remote']);
  });

  it('gives all services one volume for files, where the image says that they are', () => {
    const [, folder = ''] = /MUSTER_DATA_DIR=(\S+)/.exec(read('services/Dockerfile')) ?? [];
    for (const [, service] of all) expect(service.volumes).toEqual([`files:${folder}`]);
    expect(Object.keys(volumes)).toContain('files');
    // A new volume takes the owner of the image's folder.
    expect(read('services/Dockerfile')).toContain(`RUN mkdir ${folder} && chown 1000:1000 ${folder}`);
  });

  it('keeps a Redis that forgets nothing', () => {
    const options = String(redis?.command);
    expect(options).toContain('--appendonly yes');
    expect(options).toContain('--maxmemory-policy noeviction');
    const [volume = '', path] = (redis?.volumes?.[0] ?? '').split(':');
    expect(path).toBe('/data');
    expect(volumes).toHaveProperty(volume);
  });
});
