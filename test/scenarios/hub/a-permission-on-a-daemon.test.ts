import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeFakeCoders } from '../../support/agents/coding/fake-coders.ts';
import { type DaemonProcess, startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { type HubGateway, startHubGateway } from '../../support/daemons/hub-gateway.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const folder = await useFolder();

let fleet: Fleet;
let gateway: HubGateway;
/** The address of the API, where daemons leave checkpoints. */
let api: string;
let hub: ServiceProcess;
let daemon: DaemonProcess;
let token: string;
let claude: string[];

async function startHub(env: Record<string, string> = {}): Promise<void> {
  hub = await fleet.start('hub', { MUSTER_PUBLIC_URL: api, ...env });
  gateway.lead([hub]);
}

async function startDaemon(): Promise<void> {
  const args = ['--preset', 'claude-code', '--ask-permissions', '--', ...claude];
  // Without a HOME of a person its programs have their own, and their sessions are kept.
  daemon = startMusterDaemon(args, { hub: gateway.url, token, folder, env: { HOME: undefined } });
  await daemon.prints('Connected to');
}

/** Resolves once the daemon is connected again. */
async function reconnected(work: () => Promise<void>): Promise<void> {
  const since = daemon.lines.length;
  await work();
  await daemon.prints('Connected to', since);
}

interface Open {
  id: string;
  question: string;
}

/** The open questions of a task, once it has some. */
async function asked(taskId: string): Promise<Open> {
  const read = async (): Promise<Open | undefined> => {
    const { body } = await fleet.client.call('GET', `/v1/questions?status=open&taskId=${taskId}`);
    const [first, second] = body['items'] as Open[];
    expect(second).toBeUndefined();
    return first;
  };
  return await waitFor(read, { deadlineMs: 30_000, what: 'the question' });
}

const answer = (question: string, text: string): ReturnType<Fleet['client']['call']> =>
  fleet.client.call('POST', `/v1/questions/${question}/answer`, { body: { answer: text } });

interface Said {
  turns: string[];
  decisions: { behavior: string }[];
}

/** What the agent of a task says at its end, and how its attempts ended. */
async function ended(id: string): Promise<Said & { attempts: string[]; questions: number }> {
  const [task] = await fleet.client.ended([id], 60_000);
  expect(task).toMatchObject({ status: 'completed' });
  const { body } = await fleet.client.call('GET', `/v1/questions?taskId=${id}`);
  return {
    ...(JSON.parse(task?.output ?? '{}') as Said),
    attempts: (await fleet.client.attempts(id)).map(({ status }) => status),
    questions: (body['items'] as unknown[]).length,
  };
}

const ask = (what: string): Promise<string> => fleet.client.submit({ agent: 'coder', input: `ask ${what}` });

beforeAll(async () => {
  // As root, programs have users of their own.
  await chmod(folder, 0o755);
  ({ claude } = await placeFakeCoders(join(folder, 'bin')));
  gateway = await startHubGateway();
  fleet = await openFleet({
    settings: {
      agents: { coder: { kind: 'daemon' } },
      hub: { heartbeatMs: 500, graceMs: 60_000, resendMs: 200, sweepMs: 500, excludeMs: 500 },
    },
  });
  api = (await fleet.start('api')).url;
  // It does the chores: what is due goes on.
  await Promise.all([fleet.start('worker'), startHub()]);
  ({ token } = (await fleet.client.make('/v1/daemons', { name: 'laptop' })) as { token: string });
  await startDaemon();
});
afterAll(async () => {
  daemon?.signal('SIGKILL');
  await daemon?.ended;
  await fleet?.stop();
  await gateway?.close();
});

describe('a coding agent on a daemon that asks for a permission', () => {
  it('goes on in the same program with an answer that comes soon', async () => {
    const id = await ask('rm one then rm two');
    const first = await asked(id);
    const { body: why } = await fleet.client.call('GET', `/v1/tasks/${id}/why`);
    expect(why).toMatchObject({
      status: 'running',
      reasons: [{ gate: 'question', detail: expect.stringContaining('May the agent "coder"') }],
    });
    expect((await answer(first.id, 'approve')).status).toBe(200);
    const second = await waitFor(async () => [await asked(id)].find((open) => open.id !== first.id), {
      deadlineMs: 30_000,
      what: 'the second question',
    });
    expect(second.question).toContain('"rm two"');
    expect((await answer(second.id, 'refuse')).status).toBe(200);
    expect(await ended(id)).toMatchObject({
      turns: ['ask rm one then rm two'],
      decisions: [{ behavior: 'allow' }, { behavior: 'deny' }],
      attempts: ['success'],
      questions: 2,
    });
  });

  it('goes on in the same program with an answer that came while its hub was dead, or its connection cut', async () => {
    for (const cut of ['hub', 'connection']) {
      const id = await ask(`rm ${cut}`);
      const { id: question } = await asked(id);
      gateway.lead([]);
      if (cut === 'hub') await hub.kill('SIGKILL');
      else gateway.cutAll();
      await daemon.prints('Trying again');
      expect((await answer(question, 'approve')).status).toBe(200);
      await reconnected(async () => (cut === 'hub' ? await startHub() : gateway.lead([hub])));
      expect(await ended(id)).toMatchObject({
        turns: [`ask rm ${cut}`],
        decisions: [{ behavior: 'allow' }],
        attempts: ['success'],
        questions: 1,
      });
    }
  });

  it('is asked by the next hub where the one before died, and asks nobody twice', async () => {
    const id = await ask('rm later');
    const { id: question } = await asked(id);
    gateway.lead([]);
    await hub.kill('SIGKILL');
    await reconnected(startHub);
    expect((await asked(id)).id).toBe(question);
    await answer(question, 'approve');
    expect(await ended(id)).toMatchObject({ turns: ['ask rm later'], attempts: ['success'], questions: 1 });
  });

  it('asks no more once it is cancelled', async () => {
    const id = await ask('rm cancelled');
    const { id: question } = await asked(id);
    await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
    expect(await fleet.client.ended([id], 60_000)).toMatchObject([{ status: 'cancelled' }]);
    expect((await answer(question, 'approve')).body).toMatchObject({ code: 'question.closed' });
  });

  it('waits for people without a slot once its daemon was killed, and has the answer in its next attempt', async () => {
    const id = await ask('rm killed');
    const { id: question } = await asked(id);
    daemon.signal('SIGKILL');
    await daemon.ended;
    await startDaemon();
    await fleet.client.reaches(id, ['suspended']);
    expect((await asked(id)).id).toBe(question);
    await answer(question, 'approve');
    expect(await ended(id)).toMatchObject({
      decisions: [{ behavior: 'allow' }],
      attempts: ['failed', 'suspended', 'success'],
      questions: 1,
    });
  });

  it('is ended where nobody answers soon, and goes on in its session with the answer', async () => {
    const config = join(fleet.directory, 'hasty.config.mjs');
    await writeFile(config, `import base from './muster.config.mjs';\nexport default { ...base, commands: { permissionWaitMs: 300 } };\n`);
    gateway.lead([]);
    await hub.kill('SIGKILL');
    await reconnected(() => startHub({ MUSTER_CONFIG: config }));
    const id = await ask('rm slowly');
    const { id: question } = await asked(id);
    await fleet.client.reaches(id, ['suspended']);
    expect((await asked(id)).id).toBe(question);
    await answer(question, 'approve');
    expect(await ended(id)).toMatchObject({
      turns: ['ask rm slowly', expect.stringMatching(/a person allowed it/)],
      decisions: [{ behavior: 'allow' }],
      attempts: ['suspended', 'success'],
      questions: 1,
    });
  });
});
