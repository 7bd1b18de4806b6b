import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { createLog } from '#shared/log/create-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { traceIdOf } from '#shared/log/traces/traceparent.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let redis: RedisServer;
let parts: Parts;
let worker: ReturnType<typeof createWorkerService>;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  redis = await startRedis();
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = createLog({ level: 'info', service: 'test', destination });
  parts = { ...(await openTestParts({ redisUrl: redis.url, settings: { agents: { echo: { kind: 'echo' } } } })), log };
  worker = createWorkerService(parts);
  await worker.start();
});

afterAll(async () => {
  await worker.stop(1000);
  await parts.close();
  await redis.stop();
});

it.each([
  ['that completes', {}, ['task.created', 'task.queued', 'task.scheduled', 'task.started', 'task.completed']],
  [
    'that fails for good',
    { context: { failAttempts: 1 }, execution: { maxAttempts: 1 } },
    ['task.created', 'task.queued', 'task.scheduled', 'task.started', 'task.failed', 'task.permanently_failed'],
  ],
])('every step of a task %s is a line of the log, with its tenant, agent and trace', async (_how, request, events) => {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'hello', traceparent: TRACEPARENT, ...request });
  const known = { tenant: 'default', agent: 'echo', trace: traceIdOf(TRACEPARENT) };
  const own = (): typeof lines => lines.filter(({ task }) => task === id);
  await waitFor(() => own().length >= events.length, { deadlineMs: 5000, what: 'all lines' });
  expect(own()).toMatchObject(events.map((event) => ({ event, ...known })));
});
