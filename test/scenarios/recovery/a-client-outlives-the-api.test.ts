import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, type Client, type TaskEvent } from '#shared/client/index.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { freePort } from '../../support/free-port.ts';

let fleet: Fleet;
let client: Client;
let api: ServiceProcess;
let port: string;

beforeAll(async () => {
  fleet = await openFleet();
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

/** Kills the API that serves, and starts another one at its address. Resolves to the process id of the former. */
async function restartApi(): Promise<number> {
  const former = api;
  await former.kill();
  api = await fleet.start('api', { PORT: port });
  return former.pid;
}
