import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const TASKS = testEnvironment.isChaos ? 1500 : 45;
const KILLS = testEnvironment.isChaos ? 25 : 3;
const AT_ONCE = 15;
const KEYS = createKeys(1);
const INPUT = 'what an old task was given, '.repeat(300);

let fleet: Fleet;
let redis: RedisClient;
beforeAll(async () => {
  const archive = { storage: 'directory' as const, afterMs: 0, everyMs: 50, minBytes: 1000 };
  // Tasks of an agent that only fails are held after a hundred.
  fleet = await openFleet({ settings: { archive, tasks: { trimMs: 200 }, runaways: { maxFailures: 2 * TASKS } } });
  redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await fleet.start('api');
});
afterAll(async () => {
  await fleet.stop();
  redis.disconnect();
});

/** Names of the objects on the disk. */
function objects(): string[] {
  const folder = join(fleet.directory, '.muster', 'archive', 'tenants');
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /[0-9a-f]{32}$/.test(name)) : [];
}

/** The objects that tasks have, by task. */
async function placed(): Promise<Map<string, string>> {
  const bodies = await redis.hgetall(KEYS.tenant('default').bodies);
  return new Map(
    Object.entries(bodies).flatMap(([id, text]) => {
      const [, object] = /,"archived":"([0-9a-f]{32}) [^"]*"\}$/.exec(text) ?? [];
      return object === undefined ? [] : [[id, object] as const];
    }),
  );
}

/** What cannot be read of tasks that have ended, or is not what they were given. */
async function unreadable(inputs: ReadonlyMap<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const [id, input] of inputs) {
    const { status, body } = await fleet.client.call('GET', `/v1/tasks/${id}`);
    const isEcho = body['agent'] === 'echo';
    const isRight = status === 200 && body['input'] === input && (!isEcho || body['status'] !== 'completed' || body['output'] === input);
    if (!isRight) found.push(`${id}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
  }
  return found;
}

it('keeps each ended task readable, also when it is retried, while workers that archive are killed', async () => {
  const inputs = new Map<string, string>();
  const failing: string[] = [];
  const submit = async (number: number): Promise<void> => {
    const input = `${number} ${INPUT}`;
    const fails = number % 10 === 0;
    const request = fails
      ? { agent: 'work', input, context: { workMs: [10], failRuns: 1 }, execution: { maxAttempts: 1 } }
      : { agent: 'echo', input };
    const id = await fleet.client.submit(request);
    inputs.set(id, input);
    if (fails) failing.push(id);
  };
  const perKill = Math.ceil(TASKS / KILLS);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const worker = await fleet.start('worker');
    const before = objects().length;
    for (let from = 0; from < perKill; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, perKill - from) }, (_, at) => kill * perKill + from + at);
      await Promise.all(numbers.map(submit));
    }
    await waitFor(() => objects().length > before + 2, { deadlineMs: 30_000, everyMs: 1, what: 'an object of the archive' });
    await worker.kill();
    expect(await unreadable(inputs)).toEqual([]);
  }

  await fleet.start('worker');
  await fleet.client.ended([...inputs.keys()], 60_000);
  await waitFor(async () => (await placed()).size === inputs.size, { deadlineMs: 60_000, what: 'all tasks to be archived' });
  expect(await unreadable(inputs)).toEqual([]);
  // One that was lost with its worker may have completed in its second run.
  const failed = (await fleet.client.ended(failing, 60_000)).flatMap(({ id, status }) => (status === 'permanently_failed' ? [id] : []));
  expect(failed.length).toBeGreaterThan(0);
  const retried = await Promise.all(failed.map((id) => fleet.client.call('POST', `/v1/tasks/${id}/retry`)));
  expect(retried.map(({ status }) => status)).toEqual(failed.map(() => 202));
  expect((await fleet.client.ended(failed, 60_000)).map(({ status }) => status)).toEqual(failed.map(() => 'completed'));
  await waitFor(async () => (await placed()).size === inputs.size, { deadlineMs: 60_000, what: 'those to be archived again' });
  expect(await unreadable(inputs)).toEqual([]);

  // Each object has a task or a time, and none is of two.
  const due = await redis.zrange(KEYS.shard(0).archiveDue, '0', '-1');
  const owned = [...(await placed()).values()];
  expect(new Set(owned).size).toBe(owned.length);
  const known = new Set([...owned, ...due.map((member) => member.split('/')[1])]);
  expect(objects().filter((name) => !known.has(name.slice(-32)))).toEqual([]);

  const [removed = ''] = inputs.keys();
  const object = (await placed()).get(removed) ?? '';
  expect((await fleet.client.call('DELETE', `/v1/tasks/${removed}`)).status).toBe(204);
  await waitFor(() => !objects().some((name) => name.endsWith(object)), { deadlineMs: 20_000, what: 'the object of a removed task to go' });
});
