import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { readEvents } from '../support/read-events.ts';
import { startApi } from '../support/start-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const SECRET = 'sk-a-secret-that-is-known';

/** Reports what it does, waits until the test goes on, and fails. */
const goesOn = Promise.withResolvers<void>();
const reporting: AgentFunction = async (_task, { log, progress, write }) => {
  log.info({ files: 3, password: 'hunter2hunter2', nested: { url: 'https://user:word@example.com/a' } }, 'reads the files');
  log.warn(`uses ${SECRET}`);
  log.debug('is for the process only');
  progress('half of it', 50);
  write('half');
  await goesOn.promise;
  progress('the rest', 250);
  throw new Error(`no answer with Authorization: Bearer ${SECRET}`, { cause: new TypeError('socket closed') });
};

const chatty: AgentFunction = ({ input }, { log, progress }) => {
  for (let line = 0; line < 10_000; line += 1) log.info(input);
  for (let step = 0; step < 10_000; step += 1) progress(`step ${step}`, step / 100);
  return Promise.resolve('done');
};

const redis = await useRedis();
const api = closeAfterTests(
  await startApi(redis.url, {
    agents: {
      reporting: { kind: 'function', run: reporting, maxAttempts: 1 },
      chatty: { kind: 'function', run: chatty },
      failing: {
        kind: 'command',
        command: ['sh', '-c', `echo "missing $KEY_OF_IT file" >&2; exit 3`],
        env: { KEY_OF_IT: SECRET },
        maxAttempts: 1,
      },
      slow: { kind: 'command', command: ['sh', '-c', 'echo "waits for the lock" >&2; sleep 60'], timeoutMs: 3000, maxAttempts: 1 },
      known: { kind: 'openai', model: 'any', apiKey: SECRET, baseUrl: 'http://127.0.0.1:9/v1' },
    },
    tasks: { maxLogEntries: 20, maxLogEntryCharacters: 100 },
    commands: { uid: 'own' },
  }),
);
await useWorker(api.parts);

const get = async (path: string): Promise<Reply['body']> => (await api.call('GET', path)).body;

async function submit(agent: string, input = 'go'): Promise<string> {
  return (await api.call('POST', '/v1/tasks', { body: { agent, input } })).body.id;
}

async function ended(id: string): Promise<Reply['body']> {
  return await waitFor(
    async () => {
      const task = await get(`/v1/tasks/${id}`);
      return task.completedAt === null ? null : task;
    },
    { deadlineMs: 15_000, what: 'the end of the task' },
  );
}

describe('what an agent reports', () => {
  it('is on the task while it runs, in its stream, and afterwards, without secrets', async () => {
    const id = await submit('reporting');
    const reader = await readEvents(`${api.url}/v1/tasks/${id}/stream`, { key: api.key });
    await waitFor(() => reader.events.some(({ event }) => event === 'progress'), { deadlineMs: 5000, what: 'the progress' });
    expect((await get(`/v1/tasks/${id}`)).progress).toMatchObject({ attempt: 1, note: 'half of it', percent: 50 });
    const resumeAt = reader.events.find(({ event }) => event === 'progress')?.id;
    goesOn.resolve();
    await reader.ended;
    const sent = reader.events.map(({ event, data }) => Object.assign(JSON.parse(data) as object, { event }));
    expect(sent.filter(({ event }) => event === 'log')).toEqual([
      {
        event: 'log',
        at: expect.any(String),
        attempt: 1,
        level: 'info',
        text: 'reads the files',
        fields: { files: 3, password: '[redacted]', nested: { url: 'https://[hidden]@example.com/a' } },
      },
      { event: 'log', at: expect.any(String), attempt: 1, level: 'warn', text: 'uses [hidden]', fields: null },
    ]);
    expect(sent.filter(({ event }) => event === 'progress')).toMatchObject([
      { note: 'half of it', percent: 50 },
      { note: 'the rest', percent: 100 },
    ]);
    const { items } = await get(`/v1/tasks/${id}/log`);
    expect(items.map(({ kind, text, percent }: Record<string, unknown>) => [kind, text, percent])).toEqual([
      ['log', 'reads the files', null],
      ['log', 'uses [hidden]', null],
      ['progress', 'half of it', 50],
      ['progress', 'the rest', 100],
    ]);
    const resumed = await readEvents(`${api.url}/v1/tasks/${id}/stream`, { key: api.key, lastEventId: resumeAt });
    await resumed.ended;
    expect(resumed.events.map(({ event }) => event)).toEqual(['progress', 'status', 'end']);
  });

  it('is bounded in number and in bytes', async () => {
    const id = await submit('chatty', 'long '.repeat(1000));
    expect((await ended(id)).status).toBe('completed');
    const { items } = await get(`/v1/tasks/${id}/log`);
    expect(items).toHaveLength(20);
    expect(items[0].text).toHaveLength(100);
    expect(items.at(-1)).toMatchObject({ level: 'warn', text: expect.stringMatching(/^This attempt reported more/) });
  });
});

describe('the record of an attempt that failed', () => {
  it('says where its error was thrown and what caused it, without secrets', async () => {
    goesOn.resolve();
    const id = await submit('reporting');
    const task = await ended(id);
    const { items } = await get(`/v1/tasks/${id}/attempts`);
    for (const { error } of [task, items[0]]) {
      expect(error.message).toBe('no answer with Authorization: Bearer [hidden]');
      expect(error.details.stack).toMatch(
        /^Error: no answer with Authorization: Bearer \[hidden\]\n +at reporting .*task-log\.test\.ts:\d+/,
      );
      expect(error.details.stack).toMatch(/\nCaused by: TypeError: socket closed\n/);
      expect(error.details.stack.length).toBeLessThanOrEqual(4096);
    }
  });

  it('has the end of what a program wrote to stderr, also when it took too long', async () => {
    const [failing, slow] = [await submit('failing'), await submit('slow')];
    expect((await ended(failing)).error).toMatchObject({
      code: 'COMMAND_FAILED',
      details: { exitCode: 3, stderr: 'missing [hidden] file\n' },
    });
    expect((await ended(slow)).error).toMatchObject({ code: 'EXECUTION_TIMEOUT', details: { stderr: 'waits for the lock\n' } });
  });
});
