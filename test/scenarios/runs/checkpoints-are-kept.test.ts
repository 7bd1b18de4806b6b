import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/index.ts';
import { connectRedis } from '#shared/redis/index.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Of the programs' own processes. */
const ENVIRONMENT = ['process', 'env'].join('.');

/** Adds its attempt to the checkpoint, and sleeps or waits for an event the first two times. */
const PROGRAM = `
  const fs = require('node:fs');
  const file = ${ENVIRONMENT}.MUSTER_CHECKPOINT;
  const left = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { seen: [] };
  const resumed = JSON.parse(${ENVIRONMENT}.MUSTER_RESUMED ?? 'null');
  left.seen.push(resumed?.data?.by ?? null);
  const waits = [{ untilMs: Date.now() + 6000 }, { event: 'paid', match: { order: 7 } }];
  const suspend = waits[left.seen.length - 1];
  fs.writeFileSync(file + '.new', JSON.stringify(suspend ? { ...left, suspend } : { seen: left.seen }));
  fs.renameSync(file + '.new', file);
  process.stdout.write(JSON.stringify(left.seen));
`;
/** Writes a checkpoint, and then goes on for long, but not when it finds one. */
const SLOW = `
  const fs = require('node:fs');
  const file = ${ENVIRONMENT}.MUSTER_CHECKPOINT;
  if (fs.existsSync(file)) process.stdout.write('found ' + fs.readFileSync(file, 'utf8'));
  else { fs.writeFileSync(file, 'half'); setTimeout(() => {}, 600_000); }
`;

const program = (text: string): { kind: 'command'; command: string[] } => ({ kind: 'command', command: [process.execPath, '-e', text] });

let fleet: Fleet;
let api: string;
beforeEach(async () => {
  fleet = await openFleet({
    settings: { outbound: { allowNetworks: ['127.0.0.0/8'] }, agents: { waiting: program(PROGRAM), slow: program(SLOW) } },
  });
  api = (await fleet.start('api')).url;
});
afterEach(async () => {
  await fleet.stop();
});

describe('a checkpoint', () => {
  it('of a program suspends its run, and is there when it goes on with what came', async () => {
    await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'waiting' });
    await fleet.client.reaches(id, ['suspended']);
    const isAtEvent = async (): Promise<boolean> =>
      JSON.stringify((await fleet.client.call('GET', `/v1/tasks/${id}/why`)).body['reasons']).includes('"event"');
    await waitFor(isAtEvent, { deadlineMs: 30_000, what: 'the run to wait for its event' });
    await fleet.client.call('POST', '/v1/events', { body: { name: 'paid', data: { order: 7, by: 'ann' } } });
    const [task] = await fleet.client.ended([id], 30_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, output: '[null][null,null][null,null,"ann"]' });
    const attempts = (await fleet.client.attempts(id)).map(({ status }) => status);
    expect(attempts).toEqual(['suspended', 'suspended', 'success']);
    const { body } = await fleet.client.call('GET', `/v1/tasks/${id}/artifacts`);
    expect(body['items']).toEqual([]);
  });

  it('of a program is there after its worker was killed', async () => {
    const worker = await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'slow' });
    await fleet.client.reaches(id, ['running']);
    const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
    const isKept = async (): Promise<boolean> => (await redis.hget(`muster:{s0}:t:default:journal:${id}`, 'checkpoint')) === 'half';
    await waitFor(isKept, { deadlineMs: 30_000, what: 'the checkpoint to be kept' });
    redis.disconnect();
    await worker.kill();
    await fleet.start('worker');
    const [task] = await fleet.client.ended([id], 60_000);
    expect(task).toMatchObject({ status: 'completed', output: 'found half' });
  });

  it('comes by HTTP with the key of the attempt alone, and not after its end', async () => {
    const calls: { key: string; checkpoint: unknown }[] = [];
    let task = '';
    const keep = async (key: string, checkpoint: unknown): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'muster-attempt-key': key };
      const body = JSON.stringify({ checkpoint });
      return (await fetch(`${api}/v1/tasks/${task}/checkpoint`, { method: 'POST', headers, body })).status;
    };
    const server = createServer((request, response) => {
      void (async () => {
        const given = (await json(request)) as { task: { id: string }; checkpoint: unknown };
        task = given.task.id;
        const key = String(request.headers['muster-attempt-key']);
        calls.push({ key, checkpoint: given.checkpoint });
        if (given.checkpoint === null) await keep(key, { page: 4, suspend: { untilMs: Date.now() + 5500 } });
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ output: `call ${calls.length}` }));
      })();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await fleet.start('worker');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      await fleet.client.call('PUT', '/v1/agents/behind', { body: { kind: 'http', url } });
      const id = await fleet.client.submit({ agent: 'behind' });
      await fleet.client.ended([id], 30_000);
      expect((await fleet.client.task(id)).output).toContain('call 2');
      expect(JSON.parse(String(calls[1]?.checkpoint))).toMatchObject({ page: 4 });
      expect(await keep(calls[0]?.key ?? '', 'late')).toBe(409);
      expect(await keep('no key', 'x')).toBe(404);
      task = await fleet.client.submit({ agent: 'echo' });
      expect(await keep(calls[0]?.key ?? '', 'of another task')).toBe(404);
    } finally {
      server.close();
    }
  });
});
