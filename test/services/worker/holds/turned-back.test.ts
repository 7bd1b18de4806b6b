import type { ServerResponse } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { createLog } from '#shared/log/create-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import type { Task } from '#shared/tasks/task.ts';
import { answerCompletion } from '../../../support/agents/chat-completion.ts';
import { awaitEnd, awaitTask } from '../../../support/agents/await-task.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';

const TRIES = 12;
const AGAIN_MS = 20;

interface Line {
  event?: string;
  task?: string;
}

const lines: Line[] = [];
let refusals = 0;

/** Whether the account has nothing left. */
let isUsedUp = false;

/** Refuses so many calls, and serves then. */
const serve = (response: ServerResponse): void => {
  refusals -= 1;
  if (refusals < 0 && !isUsedUp) return answerCompletion(response);
  response.writeHead(429, {
    'content-type': 'application/json',
    ...(isUsedUp ? {} : { 'retry-after-ms': `${AGAIN_MS}` }),
  });
  response.end(JSON.stringify({ error: isUsedUp ? { code: 'insufficient_quota', message: 'nothing left' } : { message: 'not now' } }));
};
const provider = await startFakeHttpEndpoint(serve);
afterAll(() => provider.close());

const refuse = (code: string): never => {
  throw new TaskFailure(code, 'not now', { retryAfterMs: AGAIN_MS });
};

const parts = await useParts({
  agents: {
    function: { kind: 'function', run: () => ((refusals -= 1) < 0 ? Promise.resolve('served') : refuse('THROTTLED')) },
    changing: {
      kind: 'function',
      run: () => ((refusals -= 1) < 0 ? Promise.resolve('served') : refuse(refusals % 2 ? 'THROTTLED' : 'PROVIDER_QUOTA')),
    },
    writing: {
      kind: 'function',
      run: (_task, { write }) => {
        write('half ');
        return (refusals -= 1) < 0 ? Promise.resolve('served') : refuse('THROTTLED');
      },
    },
    openai: { kind: 'openai', baseUrl: `${provider.url}/v1`, model: 'm' },
  },
  outbound: { allowNetworks: ['127.0.0.0/8'] },
  throttle: { maxInSlotWaitMs: 1, pumpMs: 20, coolDownMs: 1, burst: 1, probeMs: 300 },
  providers: { local: { baseUrl: `${provider.url}/v1`, requestsPerMinute: 6000 } },
  worker: { duePollMs: 20 },
});
const log = createLog({ level: 'info', service: 'worker', destination: { write: (line) => void lines.push(JSON.parse(line) as Line) } });
await useWorker({ ...parts, log });

const submit = async (agent: string): Promise<string> => (await acceptTask(parts, { tenant: 'default', agent, input: 'x' })).id;

async function run(agent: string, refused: number): Promise<{ task: Task; events: string[]; timeline: string[] }> {
  refusals = refused;
  const id = await submit(agent);
  const task = await awaitEnd(parts, id);
  return { task, ...seenOf(id, task) };
}

function seenOf(id: string, task: Task): { events: string[]; timeline: string[] } {
  const events = lines.flatMap(({ event, task: of }) => (of === id && event !== undefined && event !== 'task.queued' ? [event] : []));
  return { events, timeline: parseTimeline(task.state.log).map(({ status }) => status) };
}

const isHeld = ({ state }: Task): boolean => state.hold !== undefined;

const ONCE = ['task.scheduled', 'task.started', 'task.interrupted', 'task.started', 'task.completed'];
const TWICE = ['pending', 'queued', 'scheduled', 'running', 'queued', 'scheduled', 'running', 'completed'];

it.each(['function', 'openai'])(
  'a task of %s whose provider refuses it again and again has one record and one line of that',
  async (agent) => {
    const { task, events, timeline } = await run(agent, TRIES);
    expect(task.state).toMatchObject({ status: 'completed', attempt: 1, token: TRIES + 1 });
    expect(task.attempts.map(({ status }) => status)).toEqual(['interrupted', 'success']);
    expect(events).toEqual(ONCE);
    expect(timeline).toEqual(TWICE);
  },
);

it('a task whose refusals change has a record of each change', async () => {
  const { task, events } = await run('changing', 3);
  expect(task.attempts.map(({ status, error }) => [status, error?.code])).toEqual([
    ['interrupted', 'PROVIDER_QUOTA'],
    ['interrupted', 'THROTTLED'],
    ['interrupted', 'PROVIDER_QUOTA'],
    ['success', undefined],
  ]);
  expect(events.filter((event) => event === 'task.interrupted')).toHaveLength(3);
});

it('an attempt that wrote something is recorded, however often it is refused', async () => {
  const { task } = await run('writing', 3);
  expect(task.attempts.map(({ status }) => status)).toEqual(['interrupted', 'interrupted', 'interrupted', 'success']);
});

it('an attempt that was held before anything was sent is none, and its task waits at the gate until that opens', async () => {
  isUsedUp = true;
  const tries = await submit('openai');
  await awaitTask(parts, { id: tries }, isHeld, 'a refusal');
  const waits = await submit('openai');
  expect((await awaitTask(parts, { id: waits }, isHeld, 'a hold')).attempts).toEqual([]);
  isUsedUp = false;
  const ended = [await awaitEnd(parts, tries), await awaitEnd(parts, waits)];
  expect(ended.map(({ attempts }) => attempts.map(({ status }) => status))).toEqual([['interrupted', 'success'], ['success']]);
  for (const task of ended) expect(seenOf(task.body.id, task)).toEqual({ events: ONCE, timeline: TWICE });
});
