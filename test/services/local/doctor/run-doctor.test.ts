import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { environmentSchema } from '#shared/config/environment.ts';
import type { Config } from '#shared/config/load-config.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import type { CommandSettings } from '#shared/config/settings/worker-settings.ts';
import { noteRefusal } from '#shared/deliveries/refused-platforms.ts';
import { checkInstallation } from '#shared/findings/checks.ts';
import type { InstallationPorts } from '#shared/findings/facts/installation-facts.ts';
import { judgeDisk } from '#shared/findings/kinds/redis.ts';
import { MusterError } from '#shared/errors/error-codes.ts';
import { createLog } from '#shared/log/create-log.ts';
import { endedMember } from '#shared/ledger/ended-tasks.ts';
import { openQueues } from '#shared/queue/queues.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { installationText } from '#shared/redis/installation.ts';
import { createKeys } from '#shared/redis/keys.ts';
import type { Clock } from '#shared/time/clock.ts';
import { checkCommands, checkNode, runDoctor } from '../../../../services/local/doctor/run-doctor.ts';
import { removeRedisRecord, writeRedisRecord } from '../../../../services/local/redis/redis-program.ts';
import { checkRows } from '../../../shared/findings/check-rows.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { UNREADABLE_STATE } from '../../../shared/ledger/support/stored-states.ts';

const server = await useRedis({ args: ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'] });
const directory = await useFolder('muster-doctor-');

const REDIS_CHECKS = [
  'Redis version',
  'Redis appendonly',
  'Redis appendfsync',
  'Redis maxmemory-policy',
  'Redis memory',
  'Redis disk',
  'Data in Redis',
  'Clock',
];

function configWith(url: string | undefined, settings: SettingsInput = {}): Config {
  const env = environmentSchema.parse({ MUSTER_DATA_DIR: join(directory, 'data'), ...(url === undefined ? {} : { REDIS_URL: url }) });
  return { env, settings: settingsSchema.parse(settings), digest: 'test', directory, readVariable: () => undefined };
}

async function examine(config: Config, url: string | undefined): Promise<{ code: number; text: string }> {
  let text = '';
  const readVariable = (name: string): string | undefined => (name === 'REDIS_URL' ? url : undefined);
  const code = await runDoctor({ out: { write: (part) => (text += part) }, load: async () => ({ ...config, readVariable }) });
  return { code, text };
}

function portsOf(redis: RedisClient): InstallationPorts {
  const keys = createKeys(1);
  const queues = openQueues(redis, keys, createLog({ level: 'silent', service: 'test' }));
  return { redis, keys, seal: new Seal(), queues, settings: settingsSchema.parse({}) };
}

async function set(setting: string, value: string): Promise<void> {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await redis.call('CONFIG', 'SET', setting, value);
  redis.disconnect();
}

test('what needs attention in the fleet is checked too, and fails when it is critical', async () => {
  const detail = 'Tasks wait in the queue "chat", and no worker serves it. (for 4 min 2 s)';
  let text = '';
  const code = await runDoctor({
    out: { write: (part) => (text += part) },
    load: async () => configWith(server.url),
    json: true,
    findAttention: async () => [{ name: 'Attention', state: 'fail', detail }],
  });
  const { items, failed } = JSON.parse(text);
  expect([code, failed]).toEqual([1, 1]);
  expect(items).toContainEqual({ name: 'Attention', state: 'fail', detail });
  expect(items).toContainEqual(expect.objectContaining({ name: 'Node', state: 'ok' }));
});

test("what is a user's is named with its owner, and is no fault of the installation", async () => {
  const attention = { name: 'Attention', state: 'warn', detail: '9 of 9 attempts of mine failed.', of: 'agent mine' } as const;
  const run = async (json: boolean): Promise<[number, string]> => {
    let text = '';
    const options = { out: { write: (part: string) => (text += part) }, load: async () => configWith(server.url), json };
    return [await runDoctor({ ...options, findAttention: async () => [attention] }), text];
  };
  const [code, text] = await run(false);
  expect(code).toBe(0);
  expect(text).toMatch(/^ {2}warn {2}Attention +agent mine: 9 of 9 attempts of mine failed\.$/m);
  expect(text).toContain('\nNo check failed. Not by the installation: agent mine.\n');
  expect(JSON.parse((await run(true))[1])).toMatchObject({ failed: 0, items: expect.arrayContaining([attention]) as unknown });
});

test('a setting that has another name now, or does nothing any more, is named', async () => {
  let text = '';
  await runDoctor({
    out: { write: (part) => (text += part) },
    load: async () => ({ ...configWith(server.url), warnings: ['events.lookMs is called events.pollMs now'] }),
  });
  expect(text).toMatch(/^ {2}warn {2}Configuration +events\.lookMs is called events\.pollMs now$/m);
});

test('the checks of a fleet elsewhere stand for those of a Redis here, and fail as they do', async () => {
  const policy = { name: 'Redis maxmemory-policy', state: 'fail', detail: 'allkeys-lru' } as const;
  const attention = { name: 'Attention', state: 'ok', detail: 'Nothing needs attention.' } as const;
  let text = '';
  const code = await runDoctor({
    out: { write: (part) => (text += part) },
    load: async () => configWith(server.url),
    json: true,
    findChecks: async () => [policy],
    findAttention: async () => [attention],
  });
  const { items, failed } = JSON.parse(text);
  expect([code, failed]).toEqual([1, 1]);
  expect(items.map(({ name }: { name: string }) => name)).toEqual([
    'Node',
    'Configuration',
    'Agents',
    'Chat platforms',
    policy.name,
    'Attention',
  ]);
  expect(items.slice(-2)).toEqual([policy, attention]);
});

test('a Redis as the promises need it passes every check', async () => {
  const { code, text } = await examine(configWith(server.url, { agents: { echo: { kind: 'echo' } } }), server.url);
  expect(code).toBe(0);
  for (const name of [...REDIS_CHECKS, 'Node', 'Configuration', 'Agents']) expect(text).toMatch(new RegExp(`^  ok +${name} `, 'm'));
});

test('the chat platforms that are on are named', async () => {
  const config = configWith(undefined);
  const on = { ...config.env, TELEGRAM_BOT_TOKEN: '1:a', TELEGRAM_WEBHOOK_SECRET: 's', SLACK_BOT_TOKEN: 'x', SLACK_SIGNING_SECRET: 's' };
  expect((await examine({ ...config, env: on }, undefined)).text).toMatch(/ok +Chat platforms +telegram, slack$/m);
  expect((await examine(config, undefined)).text).toMatch(/ok +Chat platforms +none: /);
});

test('a Redis that may throw work away fails, with the command that mends it', async () => {
  await set('maxmemory-policy', 'allkeys-lru');
  await set('appendonly', 'no');
  try {
    const { code, text } = await examine(configWith(server.url), server.url);
    expect(code).toBe(1);
    expect(text).toMatch(/fail +Redis maxmemory-policy +Redis has maxmemory-policy allkeys-lru: .*CONFIG SET maxmemory-policy noeviction/);
    expect(text).toMatch(/fail +Redis appendonly +Redis has appendonly no: .*CONFIG SET appendonly yes/);
  } finally {
    await set('maxmemory-policy', 'noeviction');
    await set('appendonly', 'yes');
  }
});

test('everysec is said to lose accepted work on a slow disk too, not only when the power fails', async () => {
  const { text } = await examine(configWith(server.url), server.url);
  expect(text).toMatch(/ok +Redis appendfsync +everysec: .*killed while its disk is slow.*always closes that gap/);
});

test.each([
  ['aof_delayed_fsync:0\r\naof_last_write_status:ok', 'ok', /keeps up/],
  ['aof_last_write_status:ok\r\naof_delayed_fsync:7', 'warning', /too slow 7 times.*loses accepted work.*appendfsync always/],
  ['aof_delayed_fsync:0\r\naof_last_write_status:err', 'critical', /failed/],
])('a disk of which Redis says "%s" is %s', (info, severity, words) => {
  const { note, findings } = judgeDisk(info);
  expect([findings[0]?.severity ?? 'ok', `${note ?? ''}${findings[0]?.text ?? ''} ${findings[0]?.helps ?? ''}`]).toEqual([
    severity,
    expect.stringMatching(words),
  ]);
});

test('deliveries without a consumer are reported with the service to start', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const keys = createKeys(1);
  try {
    const rows = (): Promise<string[]> => checkRows(portsOf(redis), 'Results going out');
    expect(await rows()).toEqual([expect.stringMatching(/^ok /)]);
    const hourAgo = Date.now() - 3_600_000;
    await redis.zadd(keys.shard(0).ended, 0, endedMember('callback', hourAgo, 'acme', 'a'), 0, endedMember('run', Date.now(), 'acme', 'b'));
    await redis.lpush(`${keys.shard(0).queues}:replies:wait`, 'a-reply-0');
    expect(await rows()).toEqual([
      'fail Results going out: 1 ends of kind callback are not followed for 60 min. Start a worker.',
      expect.stringMatching(/^fail Results going out: 1 replies wait without a process that sends them\. Start the service chat/),
    ]);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
});

test('a Redis that a fleet left noted down and that runs no more is none to ask', async () => {
  const noted = join(directory, 'data', 'redis');
  mkdirSync(noted, { recursive: true });
  // No process has this number: it is over what Linux and macOS give out.
  writeRedisRecord(noted, { pid: 2 ** 30, startedAt: '1', address: { kind: 'socket', path: join(noted, 'redis.sock') } });
  const { code, text } = await examine(configWith(undefined), undefined);
  expect(text).toMatch(/skip +Redis +no fleet runs here/);
  expect(code).toBe(0);
  removeRedisRecord(noted);
});

test('data that would not be found with this number of shards fails', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  try {
    await redis.set(createKeys(1).fleet.installation, installationText(createKeys(3)));
    const { code, text } = await examine(configWith(server.url), server.url);
    expect(code).toBe(1);
    expect(text).toMatch(/fail +Data in Redis +SHARDS is 1, and what is in this Redis was written with SHARDS=3: /);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
});

test('limits of the fleet that were changed by API are shown beside those of the configuration', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const limits = { maxConcurrent: 7, runningByClass: {}, runningLow: null, rates: { all: { perMinute: 1, perHour: 1 } } };
  try {
    expect((await examine(configWith(server.url), server.url)).text).toMatch(/ok +Limits +1000 attempts at once, by the configuration/);
    await redis.set(createKeys(1).fleet.limits, JSON.stringify({ limits, changedAt: 0, by: null }));
    const { text } = await examine(configWith(server.url), server.url);
    expect(text).toMatch(/ok +Limits +7 attempts at once, and rates\.all, changed by API at 1970.*; the configuration says 1000 at once/);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
});

test('records that another release wrote are named', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const own = createKeys(1).tenant('default');
  try {
    expect((await examine(configWith(server.url), server.url)).text).toMatch(/ok +Records /);
    await redis.hset(own.states, '01TASK', UNREADABLE_STATE);
    await redis.hset(own.hooks, '01HOOK', '{"provider":"newer"}');
    const { text } = await examine(configWith(server.url), server.url);
    expect(text).toMatch(/warn +Records +Records cannot be read: task of tenant default 01TASK; hook of tenant default 01HOOK\. /);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
});

/** A clock that is ahead by so much. */
function clockOff(ms: number): Clock {
  return { now: () => Date.now() + ms, monotonic: () => performance.now() };
}

test('a clock that differs from the one of Redis is told, with its direction', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const fleet = portsOf(redis);
  try {
    expect((await checkInstallation(fleet, clockOff(-60_000), { maxRead: 10 })).at(-1)).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('behind'),
    });
    expect((await checkInstallation(fleet, clockOff(2000), { maxRead: 10 })).at(-1)).toMatchObject({
      state: 'warn',
      detail: expect.stringContaining('ahead'),
    });
  } finally {
    redis.disconnect();
  }
});

test('a chat platform that refuses the bot fails, with what to repair', async () => {
  const redis = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  try {
    await noteRefusal(portsOf(redis), 'discord', { reason: 'Discord refuses DISCORD_BOT_TOKEN (4004)', since: 0 });
    const { code, text } = await examine(configWith(server.url), server.url);
    expect([code, text]).toEqual([1, expect.stringMatching(/FAIL +Chat +Discord refuses DISCORD_BOT_TOKEN \(4004\)/i)]);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
});

test('a user without INFO, CONFIG and CLIENT is told what could not be checked, and gets the other checks', async () => {
  const operator = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await operator.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-info', '-config', '-client');
  const url = server.url.replace('://', '://limited:secret@');
  const { code, text } = await examine(configWith(url), url);
  expect(code).toBe(0);
  expect(text).toMatch(/skip +Redis version +could not be checked: NOPERM/);
  expect(text).toMatch(/skip +Redis appendonly +could not be checked/);
  for (const name of ['Redis writes', 'Data in Redis', 'Records', 'Workers', 'Limits', 'Clock'])
    expect(text).toMatch(new RegExp(`^  ok +${name} `, 'm'));
  await operator.call('ACL', 'SETUSER', 'limited', '-@write');
  expect((await examine(configWith(url), url)).text).toMatch(/fail +Redis writes +Redis refuses writes: NOPERM/);
  operator.disconnect();
});

test('a Redis that does not answer is one failed check', async () => {
  const { code, text } = await examine(configWith('redis://127.0.0.1:1'), 'redis://127.0.0.1:1');
  expect(code).toBe(1);
  expect(text).toMatch(/fail +Redis +does not answer/);
});

test('without REDIS_URL and without a fleet here there is no Redis to look at, which is no failure', async () => {
  const { code, text } = await examine(configWith(undefined), undefined);
  expect(code).toBe(0);
  expect(text).toMatch(/skip +Redis +no fleet runs here/);
});

test('an agent that cannot run fails by its name', async () => {
  const { code, text } = await examine(
    configWith(server.url, { agents: { broken: { kind: 'command', command: ['no-such-program-here'] } } }),
    server.url,
  );
  expect(code).toBe(1);
  expect(text).toMatch(/fail +Agents +agents\.broken: .*no-such-program-here/);
});

test('a configuration that is wrong is shown whole, and the rest is not guessed at', async () => {
  let text = '';
  const problems = ['environment: PORT: too large', 'muster.config.ts: agents'];
  const load = (): Promise<Config> => Promise.reject(new MusterError('config.invalid', 'wrong', { details: { problems } }));
  expect(await runDoctor({ out: { write: (part) => (text += part) }, load })).toBe(1);
  expect(text).toContain('PORT: too large');
  expect(text).toContain('muster.config.ts: agents');
  expect(text).not.toContain('Redis');
});

test('a Node that cannot run the sources fails', () => {
  expect(checkNode('22.12.0').state).toBe('fail');
  expect(checkNode('24.19.0').state).toBe('fail');
  expect(checkNode('24.20.0').state).toBe('ok');
});

test('what programs of agents can reach of the fleet’s is said', () => {
  const config = configWith(undefined, { agents: { build: { kind: 'command', command: ['true'] } } });
  const checkAs = (uid: number, of: Config = config): string[] =>
    checkCommands(of, uid, 'linux').map(({ state, detail }) => `${state} ${detail}`);
  const isolation: unknown = expect.stringMatching(/^ok run (?:in cgroups below \/|without cgroups \()/);
  expect(checkAs(0)).toEqual([expect.stringMatching(/^ok each attempt runs as a user of its own \(66000 to 97999\)/), isolation]);
  expect(checkAs(1000)).toEqual([
    expect.stringMatching(/^warn run as the fleet's own user \(1000\): they can read .*data with its admin key/),
    isolation,
  ]);
  const withCommands = (commands: Partial<CommandSettings>): Config => {
    return { ...config, settings: { ...config.settings, commands: { ...config.settings.commands, ...commands } } };
  };
  const chosen = withCommands({ uid: 2000 });
  expect(checkAs(0, chosen)[0]).toMatch(/^ok run as user 2000, .*Commands of one tenant at a time run on a worker/);
  expect(checkAs(0, withCommands({ uid: 2000, sharedUser: true }))[0]).toMatch(/^warn .*Tenants share that user/);
  expect(checkAs(1000, withCommands({ users: { first: 5000, count: 9 } }))[0]).toMatch(
    /^fail commands.users names users, and only root can/,
  );
  expect(checkAs(1000, chosen)).toEqual([expect.stringMatching(/^fail .*only root can start programs as another user/), isolation]);
  const openRedis = { ...config, readVariable: () => 'redis://10.0.0.1:6379' };
  expect(checkAs(0, openRedis)).toEqual([expect.any(String), expect.stringMatching(/^warn REDIS_URL has no password/), isolation]);
  expect(checkAs(0, { ...config, readVariable: () => 'redis://:word@10.0.0.1:6379' })).toHaveLength(2);
  expect(checkCommands(config, 0, 'darwin').map(({ detail }) => detail)).toContainEqual(
    expect.stringMatching(/^on darwin programs that leave their process group are found/),
  );
  expect(checkCommands(configWith(undefined), 1000)).toEqual([]);
});
