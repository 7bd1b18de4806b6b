import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installedVersion, releaseName } from '#shared/config/installed-version.ts';
import { loadConfig, type Config } from '#shared/config/load-config.ts';
import { hasCode, type MusterError } from '#shared/errors/error-codes.ts';
import { useFolder } from '../../support/use-folder.ts';

let files = 0;

const folder = await useFolder('muster-config-');

/** Loads a configuration file of this text; each has a name of its own, because a module is loaded once. */
const load = async (text: string, variables: Record<string, string> = {}): Promise<Config> => {
  files += 1;
  const file = `config-${files}.mjs`;
  await writeFile(join(folder, file), text);
  return await loadConfig({ MUSTER_CONFIG: file, ...variables }, folder);
};

const problemsOf = async (loading: Promise<Config>): Promise<string[]> => {
  const error = await loading.then(
    () => null,
    (problem: unknown) => problem,
  );
  expect(hasCode(error, 'config.invalid')).toBe(true);
  const { details, message } = error as MusterError;
  const problems = details?.['problems'] as string[];
  for (const problem of problems) expect(message).toContain(problem);
  return problems;
};

describe('the configuration', () => {
  it('has a default for everything, without a file and a variable', async () => {
    const { env, settings, directory } = await loadConfig({}, folder);
    expect(env).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', REDIS_URL: 'redis://127.0.0.1:6379', SHARDS: 1, LOG_LEVEL: 'info' });
    expect(settings.limits).toMatchObject({ maxConcurrent: 1000, tenant: { running: 20, waiting: 100, runningLow: 5 } });
    expect(settings.limits.tenant.runningByClass).toEqual({ proactive: 10, user: 15, webhook: 5 });
    expect(settings.retries.webhook).toEqual({ maxAttempts: 3, retryDelayMs: 60_000, retryBackoff: 'exponential', lane: 'hold' });
    expect(settings.retries.chat).toEqual({ maxAttempts: 3, retryDelayMs: 2000, retryBackoff: 'exponential', lane: 'hold' });
    expect(directory).toBe(folder);
  });

  it('keeps what the file says and fills in the rest', async () => {
    const { settings } = await load(`export default {
      agents: { echo: { kind: 'echo', timeoutMs: 5 } },
      limits: { tenants: { acme: { running: 2 } } },
      retries: { webhook: { maxAttempts: 7 } },
      queues: { chat: { slots: 3, limiter: { max: 10, durationMs: 1000 } } },
    };`);
    expect(settings.agents).toEqual({ echo: { kind: 'echo', timeoutMs: 5 } });
    expect(settings.limits.tenants['acme']).toMatchObject({ running: 2, waiting: 100 });
    expect(settings.retries.webhook).toEqual({ maxAttempts: 7, retryDelayMs: 60_000, retryBackoff: 'exponential', lane: 'hold' });
    expect(settings.queues.chat).toEqual({ slots: 3, limiter: { max: 10, durationMs: 1000 } });
  });

  it('reads settings under names that changed, and says what they are called now', async () => {
    const file = 'old-names.mjs';
    await writeFile(
      join(folder, file),
      `export default { scheduler: { maxWritsPerRun: 2 }, commands: { lookMs: 60 }, deliveries: { lookMs: 70 }, events: { lookMs: 80, pollMs: 90 }, dispatch: { direct: false, lookAhead: 3 } };`,
    );
    const { settings, warnings } = await loadConfig({ MUSTER_CONFIG: file }, folder);
    expect(settings.scheduler.maxDirectivesPerRun).toBe(2);
    expect([settings.commands.pollMs, settings.deliveries.pollMs, settings.events.pollMs]).toEqual([60, 70, 80]);
    expect(settings.dispatch.lookAhead).toBe(3);
    expect(warnings).toEqual([
      'scheduler.maxWritsPerRun is called scheduler.maxDirectivesPerRun now',
      'commands.lookMs is called commands.pollMs now',
      'deliveries.lookMs is called deliveries.pollMs now',
      'events.lookMs is called events.pollMs now',
      'dispatch.direct has no effect any more',
    ]);
  });

  it('names variables that are nearly ones that it reads, and no others', async () => {
    const { mistyped } = await loadConfig(
      {
        MUSTER_QUEUE: 'tasks=4',
        MUSTER_SEALKEY: 'x',
        MUSTER_ADMIN_KEY_FIL: '/run/x',
        MUSTER_IMAGE: 'muster',
        MUSTER_URL: 'http://x',
        MUSTER_RELEASE: 'v1',
        PROT: '1',
      },
      folder,
    );
    expect(mistyped).toEqual([
      'environment: nothing reads MUSTER_QUEUE: is MUSTER_QUEUES meant?',
      'environment: nothing reads MUSTER_SEALKEY: is MUSTER_SEAL_KEY meant?',
      'environment: nothing reads MUSTER_ADMIN_KEY_FIL: is MUSTER_ADMIN_KEY_FILE meant?',
    ]);
  });

  it('reports every problem of the environment and the file at once, each by its name', async () => {
    const text = `export default { agent: {}, limits: { maxConcurrent: 0, tenant: { runing: 3 } }, agents: { 'No Name': { kind: 'echo' }, a: { kind: 'magic' }, b: { kind: 'openai' } } };`;
    const problems = await problemsOf(
      load(text, { PORT: '70000', REDIS_URL: 'http://cache', MUSTER_ADMIN_KEY: 'short', LOG_LEVEL: 'loud', SHARDS: '0' }),
    );
    const found = problems.join('\n');
    for (const name of ['PORT', 'REDIS_URL', 'MUSTER_ADMIN_KEY', 'LOG_LEVEL', 'SHARDS']) expect(found).toContain(`environment: ${name}: `);
    expect(found).toContain('SHARDS: expected a whole number, 1 to 1024');
    for (const name of ['"agent"', 'limits.maxConcurrent', '"runing"', 'agents.No Name', 'agents.a.kind', 'agents.b.model'])
      expect(found).toContain(name);
  });

  it('reports each model whose endpoint is that of no openai agent', async () => {
    const problems = await problemsOf(
      load(`export default {
        agents: { a: { kind: 'echo' }, b: { kind: 'openai', model: 'm' } },
        models: { one: { endpointOf: 'a' }, two: { endpointOf: 'b' }, three: { endpointOf: 'gone' } },
      };`),
    );
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/models\.one\.endpointOf: there is no agent "a" of the kind openai in "agents"$/);
    expect(problems[1]).toMatch(/models\.three\.endpointOf: there is no agent "gone" of the kind openai in "agents"$/);
  });

  it('reports each lane that an agent or a source names and "lanes" does not have', async () => {
    const problems = await problemsOf(
      load(`export default {
        agents: { a: { kind: 'echo', lane: 'printer' }, b: { kind: 'echo', lane: 'missing' } },
        retries: { webhook: { sharedLane: 'gone' } },
        lanes: { printer: { limit: 2 } },
      };`),
    );
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/agents\.b\.lane: there is no lane "missing" in "lanes"$/);
    expect(problems[1]).toMatch(/retries\.webhook\.sharedLane: there is no lane "gone" in "lanes"$/);
  });

  it('reports a lane that is missing together with whatever else is wrong, also with the lanes that are there', async () => {
    const problems = await problemsOf(
      load(`export default {
        agents: { a: { kind: 'echo', lane: 'missing' }, b: { kind: 'magic', lane: 'printer' }, c: 5 },
        lanes: { printer: { limit: 0 } },
        retries: 'often',
      };`),
    );
    const found = problems.join('\n');
    for (const name of ['agents.b.kind', 'agents.c', 'lanes.printer.limit', 'retries', 'agents.a.lane: there is no lane "missing"'])
      expect(found).toContain(name);
    expect(found).not.toContain('"printer"');
  });

  it('takes networks and addresses to reach, and reports what is neither with the rest', async () => {
    const networks = ['10.0.0.0/8', '192.168.1.7', 'fd00::/8', '::1'];
    const { settings } = await load(`export default { outbound: { allowNetworks: ${JSON.stringify(networks)} } };`);
    expect(settings.outbound.allowNetworks).toEqual(networks);
    const problems = await problemsOf(
      load(`export default { outbound: { allowNetworks: ['::1', '10.1', 'everything'] } };`, { PORT: 'http' }),
    );
    expect(problems).toEqual([
      expect.stringContaining('PORT'),
      expect.stringContaining('outbound.allowNetworks.1: expected a network'),
      expect.stringContaining('outbound.allowNetworks.2: expected a network'),
    ]);
  });

  it.each([
    ['with spaces', 'an admin key with spaces'],
    ['with letters that no header carries', 'schlüssel-der-verwaltung'],
    ['of seven characters', '1234567'],
  ])('refuses an admin key %s', async (_what, key) => {
    expect(await problemsOf(load('export default {};', { MUSTER_ADMIN_KEY: key }))).toEqual([
      expect.stringContaining('environment: MUSTER_ADMIN_KEY: expected'),
    ]);
  });

  it('refuses a short admin key where others reach the address, and takes it on loopback', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'muster.example']) {
      expect(await problemsOf(load('export default {};', { HOST: host, MUSTER_ADMIN_KEY: 'eight-88' }))).toEqual([
        expect.stringContaining('expected at least 16 characters where others reach'),
      ]);
      await expect(load('export default {};', { HOST: host, MUSTER_ADMIN_KEY: 'sixteen-letters-' })).resolves.toBeDefined();
    }
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      await expect(load('export default {};', { HOST: host, MUSTER_ADMIN_KEY: 'eight-88' })).resolves.toBeDefined();
  });

  it('never shows the value of a secret that is wrong', async () => {
    const problems = await problemsOf(load('export default {};', { MUSTER_ADMIN_KEY: 'hunter2' }));
    expect(problems.join('\n')).not.toContain('hunter2');
  });

  it.each(['agents', 'limits', 'queues', 'retries', 'tasks', 'worker', 'http', 'webhooks', 'outbound', 'events'])(
    'refuses a name that nobody knows under %s',
    async (group) => {
      expect((await problemsOf(load(`export default { ${group}: { nobodyKnowsThis: 1 } };`))).join('\n')).toContain(group);
    },
  );

  it.each([
    ['throws', 'throw new Error("no such thing");', 'no such thing'],
    ['is not JavaScript', 'export default {', 'cannot be loaded'],
    ['has no default export', 'export const settings = {};', 'default export'],
    ['exports something else', 'export default 5;', '(whole)'],
  ])('names a file that %s', async (_how, text, words) => {
    const problems = await problemsOf(load(text));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
    expect(problems[0]).toContain(folder);
  });

  it('misses a file only when it was named', async () => {
    expect(await problemsOf(loadConfig({ MUSTER_CONFIG: 'nowhere.ts' }, folder))).toEqual([
      `MUSTER_CONFIG: there is no file at ${join(folder, 'nowhere.ts')}`,
    ]);
    await expect(loadConfig({}, join(folder, 'empty'))).resolves.toMatchObject({ settings: { agents: {} } });
  });

  it('takes an empty variable for one that is not set', async () => {
    const { env } = await loadConfig({ PORT: '', REDIS_URL: '', MUSTER_ADMIN_KEY: '', MUSTER_CONFIG: '', OPENAI_BASE_URL: '' }, folder);
    expect(env.PORT).toBe(3000);
    expect(env.MUSTER_ADMIN_KEY).toBeUndefined();
  });

  it('names what is deployed by MUSTER_RELEASE, else by the version of Muster', async () => {
    expect(releaseName((await loadConfig({ MUSTER_RELEASE: 'v1.4.0 (blue)' }, folder)).env)).toBe('v1.4.0 (blue)');
    for (const env of [{}, { MUSTER_RELEASE: '' }]) expect(releaseName((await loadConfig(env, folder)).env)).toBe(installedVersion());
    for (const wrong of ['x'.repeat(65), 'a\nb', ' a', 'ä']) {
      expect(await problemsOf(loadConfig({ MUSTER_RELEASE: wrong }, folder))).toEqual([expect.stringContaining('MUSTER_RELEASE')]);
    }
  });

  it('ignores variables that are not ours', async () => {
    await expect(loadConfig({ PATH: '/bin', MUSTER_UNHEARD_OF: 'x' }, folder)).resolves.toBeDefined();
  });

  it('lets MUSTER_MAX_CONCURRENT win over the file', async () => {
    const { settings } = await load('export default { limits: { maxConcurrent: 5 } };', { MUSTER_MAX_CONCURRENT: '7' });
    expect(settings.limits.maxConcurrent).toBe(7);
  });

  it.each([
    ['512', 512],
    ['none', 'none'],
  ])('lets MUSTER_COMMAND_MEMORY_MB %s win over the file, and an agent over both', async (given, memoryMb) => {
    const agents = "{ own: { kind: 'command', command: ['true'], limits: { memoryMb: 64 } } }";
    const file = `export default { commands: { limits: { memoryMb: 100, processes: 7 } }, agents: ${agents} };`;
    const { settings } = await load(file, { MUSTER_COMMAND_MEMORY_MB: given });
    expect(settings.commands.limits).toMatchObject({ memoryMb, processes: 7 });
    expect(settings.agents['own']).toMatchObject({ limits: { memoryMb: 64 } });
  });

  it('ships the agent "assistant" as soon as a model can be reached, unless the file has its own', async () => {
    expect((await loadConfig({}, folder)).settings.agents['assistant']).toBeUndefined();
    expect((await loadConfig({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'tiny' }, folder)).settings.agents['assistant']).toMatchObject({
      model: 'tiny',
    });
    const own = await load(`export default { agents: { assistant: { kind: 'echo' } } };`, { OPENAI_BASE_URL: 'http://localhost:1' });
    expect(own.settings.agents['assistant']).toEqual({ kind: 'echo' });
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['SHUTDOWN_GRACE_MS', '1.5h'],
    ['SHARDS', '2000'],
    ['MUSTER_COMMAND_MEMORY_MB', '8'],
    ['MUSTER_COMMAND_MEMORY_MB', '1Gi'],
    ['MUSTER_QUEUES', 'chat'],
    ['MUSTER_QUEUES', 'chat=4,'],
    ['MUSTER_QUEUES', 'caht=4'],
    ['MUSTER_PUBLIC_URL', 'muster'],
    ['MUSTER_TRUST_PROXY', 'yes'],
    ['OPENAI_BASE_URL', 'localhost'],
  ])('refuses %s=%s', async (name, value) => {
    const problems = await problemsOf(loadConfig({ [name]: value }, folder));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`environment: ${name}: `);
  });
});
