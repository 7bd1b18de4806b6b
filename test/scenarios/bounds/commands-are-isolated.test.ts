import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isProcessGone } from '../../support/agents/agent-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let folder: string;

const MODEL_KEY = 'model-key-that-no-command-may-see';
const BOT_TOKEN = 'bot-token-that-no-command-may-see';

/** What a program of the same user can read without privileges: its own environment, and that of the worker. */
const READ_ENVIRONMENT = `env; tr '\\0' '\\n' < /proc/$PPID/environ; echo looked`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-commands-'));
  fleet = await openFleet({
    settings: {
      commands: { folder },
      worker: { leaseMs: 2000 },
      agents: {
        'read-environment': { kind: 'command', command: ['sh', '-c', READ_ENVIRONMENT] },
        'stay-behind': {
          kind: 'command',
          command: ['sh', '-c', 'setsid sleep 600 & echo $! > pids; echo $$ >> pids; wait'],
          maxAttempts: 1,
        },
      },
    },
    // The weakest place: programs run as the user of the worker.
    env: { MUSTER_COMMAND_UID: 'own', OPENAI_API_KEY: MODEL_KEY, TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_WEBHOOK_SECRET: BOT_TOKEN },
  });
  await fleet.start('api');
});
afterAll(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What the program wrote into its folder, once it has. */
async function readPids(): Promise<number[] | null> {
  const [attemptFolder = ''] = await readdir(folder);
  const text = await readFile(join(folder, attemptFolder, 'work', 'pids'), 'utf8').catch(() => '');
  const pids = text.trim().split('\n').map(Number);
  return pids.length === 2 ? pids : null;
}

describe('a command agent', () => {
  it('finds none of the fleet’s secrets in its environment or in that of its worker', async () => {
    const worker = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2' });
    const id = await fleet.client.submit({ agent: 'read-environment' });
    const [task] = await fleet.client.ended([id], 20_000);
    expect(task?.output).toMatch(/looked\n$/);
    // It did read the environment of its worker.
    expect(task?.output).toContain('MUSTER_QUEUES=tasks=2');
    for (const secret of [MODEL_KEY, BOT_TOKEN, fleet.adminKey, fleet.redis.url]) expect(task?.output).not.toContain(secret);
    await worker.kill();
  });

  it('leaves no process and no folder behind when its worker is killed, once another one starts', async () => {
    const first = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2' });
    const id = await fleet.client.submit({ agent: 'stay-behind' });
    await fleet.client.reaches(id, ['running']);
    const pids = await waitFor(() => readPids(), { deadlineMs: 20_000, what: 'two processes to start' });
    await first.kill('SIGKILL');
    const second = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2' });
    await waitFor(() => pids.every(isProcessGone), { deadlineMs: 20_000, what: 'what it started to be gone' });
    expect(await readdir(folder)).toEqual([]);
    expect(second.lines.map(({ event }) => event)).toContain('command.orphans-ended');
    const lost = await waitFor(async () => (await fleet.client.attempts(id))[0]?.error, { deadlineMs: 20_000, what: 'the loss' });
    expect(lost.code).toBe('WORKER_LOST');
    await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
    await fleet.client.ended([id], 20_000);
    await second.kill('SIGTERM');
    await second.exited;
  });
});
