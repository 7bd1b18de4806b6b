import { expect, it } from 'vitest';
import { readState } from '#shared/ledger/read/read-states.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const server = await useRedis();
const ECHO = 'process.stdin.pipe(process.stdout)';
const settings = {
  agents: {
    // Its program is on none of these workers, of which it asks nothing.
    elsewhere: { kind: 'command' as const, command: ['not-installed-here'], capabilities: ['robot'] },
    echo: { kind: 'echo' as const },
    desk: { kind: 'daemon' as const },
    program: { kind: 'command' as const, command: [process.execPath, '-e', ECHO], capabilities: ['browser'] },
  },
};
const remote = { ...settings, queues: { remote: { slots: 2 } } };
const capable = closeAfterTests(
  await openTestParts({ redisUrl: server.url, settings: remote, env: { MUSTER_CAPABILITIES: 'gpu,browser' } }),
);
const plain = closeAfterTests(await openTestParts({ redisUrl: server.url, settings }));
const workers = [createWorkerService(capable), createWorkerService(plain)];

const submit = async (agent: string, capabilities: string[]): Promise<string> =>
  (await acceptTask(plain, { tenant: 'default', agent, input: 'x', requirements: { capabilities } })).id;
const becomes = async (id: string, wanted: object): Promise<void> => {
  const look = async (): Promise<boolean> => {
    const state = await readState(plain.ledger, 'default', id);
    return Object.entries(wanted).every(([name, value]) => state?.[name as 'status'] === value);
  };
  await waitFor(look, { deadlineMs: 20_000, what: `the task to be ${JSON.stringify(wanted)}` });
};

it('a worker with capabilities runs tasks that need them, also by their agent, and no agents of daemons', async () => {
  try {
    for (const worker of workers) await worker.start();
    const program = await submit('program', ['gpu']);
    const [gpu, robot, desk] = [await submit('echo', ['gpu']), await submit('echo', ['robot']), await submit('desk', ['gpu'])];
    await becomes(gpu, { status: 'completed' });
    await becomes(program, { status: 'completed', queue: 'remote' });
    const record = await readTask(plain.ledger, 'default', program);
    expect(record?.body.requirements?.capabilities).toEqual(['browser', 'gpu']);
    await becomes(robot, { gate: 'daemon' });
    await becomes(desk, { gate: 'daemon' });
    expect((await readState(plain.ledger, 'default', gpu))?.log).toContain('completed@');
  } finally {
    for (const worker of workers) await worker.stop(2000);
  }
});
