import { describe, expect, it } from 'vitest';
import { readStates } from '#shared/ledger/read/read-states.ts';
import { readTasks } from '#shared/ledger/read/read-tasks.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { driveTasks } from './support/drive-tasks.ts';
import { readEvents } from './support/read-events.ts';
import { startApi } from './support/start-api.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url));
const drive = driveTasks(api.parts);

const INPUT_CHARACTERS = 200_000;
const READERS = 10;
const CHUNKS = 100;
/** A state, an entry of output and what Redis says around them. */
const MAX_BYTES_PER_LOOK = 4000;

async function submitLong(): Promise<string> {
  const { status, body } = await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x'.repeat(INPUT_CHARACTERS) } });
  expect(status).toBe(202);
  return body.id;
}

async function bytesSent(): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await api.parts.redis.info('stats'))?.[1]);
}

/** What Redis sends while `step` runs, in bytes. */
async function bytesOf(step: () => Promise<unknown>): Promise<number> {
  const before = await bytesSent();
  await step();
  return (await bytesSent()) - before;
}

describe('what Redis sends for a task with a long input', () => {
  it('is no input to those who read its output or wait for its end', async () => {
    const id = await submitLong();
    const attempt = await drive.start(id);
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => readEvents(`${api.url}/v1/tasks/${id}/stream`, { key: api.key })),
    );
    const bytes = await bytesOf(async () => {
      for (let seq = 1; seq <= CHUNKS; seq += 1) {
        await drive.write(attempt, 1, seq, `${seq} `);
        const isShown = (): boolean => readers.every(({ events }) => events.some(({ data }) => data.includes(`"text":"${seq} "`)));
        await waitFor(isShown, { deadlineMs: 5000, what: `chunk ${seq}` });
      }
    });
    await drive.end(attempt, 'done');
    await Promise.all(readers.map(({ ended }) => ended));

    // As many whole tasks would be 200 MB.
    expect(bytes).toBeLessThan(READERS * CHUNKS * MAX_BYTES_PER_LOOK);
  });

  it('is no input to those who ask why it waits, who send it again, or who make a sub-task of it', async () => {
    const body = { agent: 'echo', input: 'x'.repeat(INPUT_CHARACTERS), scheduledFor: new Date(Date.now() + 3_600_000).toISOString() };
    const headers = { 'idempotency-key': 'sent-twice' };
    const { id } = (await api.call('POST', '/v1/tasks', { body, headers })).body;
    for (const path of ['/why', '/log']) {
      expect(await bytesOf(() => api.call('GET', `/v1/tasks/${id}${path}`))).toBeLessThan(INPUT_CHARACTERS / 4);
    }
    expect(await bytesOf(() => api.call('POST', '/v1/tasks', { body, headers }))).toBeLessThan(INPUT_CHARACTERS / 4);
    const child = { agent: 'echo', input: 'y', parentTaskId: id };
    expect(await bytesOf(() => api.call('POST', '/v1/tasks', { body: child }))).toBeLessThan(INPUT_CHARACTERS / 4);
  });

  it.each(['/attempts', '/timeline'])('is no input for GET %s', async (path) => {
    const id = await submitLong();
    await drive.complete(id, 'y'.repeat(INPUT_CHARACTERS));

    expect(await bytesOf(() => api.call('GET', `/v1/tasks/${id}${path}`))).toBeLessThan(INPUT_CHARACTERS / 4);
  });

  it('is no input to those who look at states alone, which are the same as in the records', async () => {
    const ids = [await submitLong(), await submitLong(), await submitLong()];
    await drive.complete(ids[0] ?? '', 'done');
    await drive.fail(ids[1] ?? '', 60_000);
    const asked = [...ids, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
    let states: unknown;
    const bytes = await bytesOf(async () => (states = await readStates(api.parts.ledger, 'default', asked)));
    const tasks = await readTasks(api.parts.ledger, 'default', asked);

    expect(bytes).toBeLessThan(ids.length * MAX_BYTES_PER_LOOK);
    expect(states).toEqual(tasks.map((task) => task?.state ?? null));
  });
});
