import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, type Client, type TaskEvent } from '#shared/client/index.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { freePort } from '../../support/free-port.ts';

let fleet: Fleet;
let client: Client;
let api: ServiceProcess;
let port: string;

beforeAll(async () => {
  const rates = { user: { perMinute: 60, perHour: 3600, burst: 1 } };
  fleet = await openFleet({ settings: { limits: { tenants: { small: { rates } } } } });
  port = String(await freePort());
  api = await fleet.start('api', { PORT: port });
  await fleet.start('worker');
  client = createClient({ url: api.url, key: fleet.adminKey, retryForMs: 60_000 });
});
afterAll(() => fleet.stop());

it('a stream goes on after its API was killed, with each word once and the end once', async () => {
  const task = await client.send('work', 'to do', { context: { workMs: [3000] } });
  const events: TaskEvent[] = [];
  const before = { killed: 0, heard: 0 };
  const result = task.result();
  for await (const event of task) {
    events.push(event);
    if (event.type !== 'output' || before.killed > 0) continue;
    before.heard = events.length;
    before.killed = await restartApi();
  }
  const texts = events.flatMap((event) => (event.type === 'output' ? [event.text] : []));
  const { output } = await task.read();
  expect(texts.join('')).toBe(output);
  expect(before.heard).toBeLessThan(events.length - 2);
  expect(events.filter(({ type }) => type === 'end')).toEqual([{ type: 'end', status: 'completed' }]);
  expect(await result).toEqual({ run: 1 });
});

it('what is sent while Redis is away is accepted once it is back, one task for each call', async () => {
  await fleet.redis.kill();
  const statuses: number[] = [];
  const watched = createClient({ url: api.url, key: fleet.adminKey, retryForMs: 60_000, fetch: noting(statuses) });
  const sending = Promise.all(['one', 'two'].map((input) => watched.send('echo', input, { correlationId: 'away' })));
  await waitFor(() => statuses.includes(503), { deadlineMs: 20_000, what: 'a refusal' });
  await fleet.redis.restart();
  const tasks = await sending;
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(['one', 'two']);
  const listed: string[] = [];
  for await (const { id } of client.tasks({ correlation: 'away' })) listed.push(id);
  expect(listed.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
});

it('what is over a rate is accepted when the API said that it may come', async () => {
  await fleet.client.make('/v1/tenants', { id: 'small' });
  const { secret } = await fleet.client.make('/v1/tenants/small/keys', { name: 'small', scopes: ['submit'] });
  const statuses: number[] = [];
  const small = createClient({ url: api.url, key: String(secret), fetch: noting(statuses) });
  for (const input of ['one', 'two', 'three']) expect(await (await small.send('echo', input)).result()).toBe(input);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
});

/** Notes the statuses of answers. */
function noting(statuses: number[]): typeof fetch {
  return async (...call) => {
    const answer = await fetch(...call);
    statuses.push(answer.status);
    return answer;
  };
}

/** Kills the API that serves, and starts another one at its address. Resolves to the process id of the former. */
async function restartApi(): Promise<number> {
  const former = api;
  await former.kill();
  api = await fleet.start('api', { PORT: port });
  return former.pid;
}
