import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/index.ts';
import { connectRedis } from '#shared/redis/index.ts';
import { type DaemonProcess, startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { type HubGateway, startHubGateway } from '../../support/daemons/hub-gateway.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Of the programs' own processes. */
const ENVIRONMENT = ['process', 'env'].join('.');

/** Adds its attempt to the checkpoint, and sleeps or waits for the event of an order the first two times. An event is kept, also for others. */
const waitingFor = (order: string): string => `
  const fs = require('node:fs');
  const file = ${ENVIRONMENT}.MUSTER_CHECKPOINT;
  const left = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { seen: [] };
  const resumed = JSON.parse(${ENVIRONMENT}.MUSTER_RESUMED ?? 'null');
  left.seen.push(resumed?.data?.by ?? null);
  const waits = [{ untilMs: Date.now() + 2000 }, { event: 'paid', match: { order: '${order}' } }];
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

/** Keeps a checkpoint by HTTP that asks, and says what was answered once it goes on. */
const ASKING = `
  const { MUSTER_RESUMED, MUSTER_CHECKPOINT_URL: url, MUSTER_ATTEMPT_KEY: key } = ${ENVIRONMENT};
  const ask = { question: 'Publish it?', choices: ['yes', 'no'], timeoutMs: '1 hour' };
  const keep = async (checkpoint) =>
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', 'muster-attempt-key': key }, body: JSON.stringify({ checkpoint }) });
  if (MUSTER_RESUMED) process.stdout.write('answered ' + MUSTER_RESUMED);
  else keep({ suspend: { ask } }).then(({ status }) => process.stdout.write('kept ' + status + ', '));
`;
/** Leaves a checkpoint that suspends for nothing that there is. */
const CONFUSED = `require('node:fs').writeFileSync(${ENVIRONMENT}.MUSTER_CHECKPOINT, '{ "suspend": { "forever": true } }')`;

/** Says what it waits for at once, and ends some time after that. */
const LATE = `
  const { MUSTER_RESUMED, MUSTER_CHECKPOINT: file } = ${ENVIRONMENT};
  if (MUSTER_RESUMED) process.stdout.write('resumed by ' + JSON.parse(MUSTER_RESUMED).data.by);
  else { require('node:fs').writeFileSync(file, '{ "suspend": { "event": "go" } }'); setTimeout(() => process.stdout.write('late, '), 5000); }
`;

const program = (text: string): { kind: 'command'; command: string[] } => ({ kind: 'command', command: [process.execPath, '-e', text] });

let fleet: Fleet;
let api: string;
beforeAll(async () => {
  fleet = await openFleet({
    settings: {
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      hub: { heartbeatMs: 500, graceMs: 60_000, resendMs: 200, sweepMs: 500 },
      agents: {
        waiting: program(waitingFor('of a program')),
        slow: program(SLOW),
        asking: program(ASKING),
        confused: program(CONFUSED),
        laptop: { kind: 'daemon' },
      },
    },
  });
  api = (await fleet.start('api')).url;
});
afterEach(async () => {
  await fleet.clear();
});
afterAll(async () => {
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
    await fleet.client.call('POST', '/v1/events', { body: { name: 'paid', data: { order: 'of a program', by: 'ann' } } });
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

  it('of a program asks people, and their answer is there when it goes on', async () => {
    const MUSTER_PUBLIC_URL = api;
    await fleet.start('worker', { MUSTER_PUBLIC_URL });
    const id = await fleet.client.submit({ agent: 'asking' });
    await fleet.client.reaches(id, ['suspended']);
    const [question] = (await fleet.client.call('GET', `/v1/questions?taskId=${id}`)).body['items'] as { id: string; choices: string[] }[];
    expect(question?.choices).toEqual(['yes', 'no']);
    expect((await fleet.client.call('POST', `/v1/questions/${question?.id}/answer`, { body: { answer: 'yes' } })).status).toBe(200);
    const [task] = await fleet.client.ended([id], 30_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, output: 'kept 204, answered "yes"' });
  });

  it('of a program that suspends for nothing that there is ends the task, and says what there is', async () => {
    await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'confused' });
    await fleet.client.ended([id], 30_000);
    const { error } = await fleet.client.task(id);
    expect(error).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('{ ask: { question') });
  });

  describe('of a daemon', () => {
    let gateway: HubGateway;
    const daemons: DaemonProcess[] = [];
    const startHub = async (): Promise<ServiceProcess> => {
      const hub = await fleet.start('hub', { MUSTER_PUBLIC_URL: api });
      gateway.lead([hub]);
      return hub;
    };
    const startDaemon = async (text: string): Promise<void> => {
      const { token } = await fleet.client.make('/v1/daemons', { name: `laptop ${randomUUID()}` });
      const options = { hub: gateway.url, token: String(token), folder: join(fleet.directory, 'daemon') };
      const daemon = startMusterDaemon(['--', process.execPath, '-e', text], options);
      daemons.push(daemon);
      await daemon.prints('as dmn_');
    };
    beforeEach(async () => {
      gateway = await startHubGateway();
      // A worker sends events on.
      await fleet.start('worker');
    });
    afterEach(async () => {
      for (const daemon of daemons.splice(0)) {
        daemon.signal('SIGKILL');
        await daemon.ended;
      }
      await gateway.close();
    });

    it('suspends its run, which goes on with what came', async () => {
      await startHub();
      await startDaemon(waitingFor('of a daemon'));
      const id = await fleet.client.submit({ agent: 'laptop' });
      await fleet.client.reaches(id, ['suspended']);
      const isAtEvent = async (): Promise<boolean> =>
        JSON.stringify((await fleet.client.call('GET', `/v1/tasks/${id}/why`)).body['reasons']).includes('"event"');
      await waitFor(isAtEvent, { deadlineMs: 60_000, what: 'the run to wait for its event' });
      await fleet.client.call('POST', '/v1/events', { body: { name: 'paid', data: { order: 'of a daemon', by: 'ann' } } });
      const [task] = await fleet.client.ended([id], 30_000);
      expect(task).toMatchObject({ status: 'completed', attempt: 1, output: '[null][null,null][null,null,"ann"]' });
    });

    it.runIf(testEnvironment.isChaos)('suspends it also at another hub than the one that gave it the task', async () => {
      const hub = await startHub();
      await startDaemon(LATE);
      const id = await fleet.client.submit({ agent: 'laptop' });
      const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
      const isKept = async (): Promise<boolean> => (await redis.hget(`muster:{s0}:t:default:journal:${id}`, 'checkpoint')) !== null;
      await waitFor(isKept, { deadlineMs: 30_000, everyMs: 50, what: 'the checkpoint to be kept' });
      redis.disconnect();
      gateway.lead([]);
      await hub.kill();
      await startHub();
      await fleet.client.reaches(id, ['suspended']);
      await fleet.client.call('POST', '/v1/events', { body: { name: 'go', data: { by: 'ann' } } });
      const [task] = await fleet.client.ended([id], 30_000);
      expect(task).toMatchObject({ status: 'completed', attempt: 1, output: 'late, resumed by ann' });
      expect((await fleet.client.attempts(id)).map(({ status }) => status)).toEqual(['suspended', 'success']);
    });
  });

  it('comes by HTTP with the key of the attempt alone, and not after its end', async () => {
    const calls: { key: string; checkpoint: unknown }[] = [];
    const kept: string[] = [];
    let task = '';
    const keep = async (key: string, checkpoint: unknown): Promise<string> => {
      const headers = { 'content-type': 'application/json', 'muster-attempt-key': key };
      const body = JSON.stringify({ checkpoint });
      const answer = await fetch(`${api}/v1/tasks/${task}/checkpoint`, { method: 'POST', headers, body });
      return answer.status === 204 ? 'kept' : `${answer.status} ${((await answer.json()) as { code: string }).code}`;
    };
    const server = createServer((request, response) => {
      void (async () => {
        const given = (await json(request)) as { task: { id: string }; checkpoint: unknown };
        task = given.task.id;
        const key = String(request.headers['muster-attempt-key']);
        calls.push({ key, checkpoint: given.checkpoint });
        if (given.checkpoint === null)
          kept.push(await keep(key, 'x'.repeat(70_000)), await keep(key, { page: 4, suspend: { untilMs: Date.now() + 5500 } }));
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
      expect(kept).toEqual(['413 checkpoint.too-large', 'kept']);
      expect(await keep(calls[0]?.key ?? '', 'late')).toBe('409 checkpoint.attempt-over');
      expect(await keep('no key', 'x')).toBe('404 checkpoint.key-invalid');
      task = await fleet.client.submit({ agent: 'echo' });
      expect(await keep(calls[0]?.key ?? '', 'of another task')).toBe('404 checkpoint.key-invalid');
    } finally {
      server.close();
    }
  });
});
