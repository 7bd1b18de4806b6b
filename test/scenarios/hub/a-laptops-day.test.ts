import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { startFakeTelegram, type FakeTelegram } from '../../support/chat/fake-telegram.ts';
import { type DaemonProcess, startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { type HubGateway, startHubGateway } from '../../support/daemons/hub-gateway.ts';
import { readEvents } from '../../services/api/support/read-events.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What a laptop may be away, and longer than any pause here but its sleep. */
const GRACE_MS = 8000;
/** Writes a line for each step, so that what is missing or doubled can be seen. */
const STEPS = 'for step in 1 2 3 4 5 6; do echo "$MUSTER_ATTEMPT/$step"; sleep "$0"; done';

/** How much longer a sleep at full size is. */
const SLEEP_MS = 600_000;

const folder = await useFolder();
let fleet: Fleet;
let gateway: HubGateway;
let api: ServiceProcess;
let hub: ServiceProcess;
let chat: ServiceProcess;
let telegram: FakeTelegram;
let laptop: DaemonProcess;
/** The tasks whose attempt was lost while the laptop slept: only these start twice. */
const lost: string[] = [];

async function startHub(): Promise<ServiceProcess> {
  const opened = await fleet.start('hub');
  gateway.lead([opened]);
  return opened;
}

const outputOf = (attempt: number): string => [1, 2, 3, 4, 5, 6].map((step) => `${attempt}/${step}\n`).join('');

/** A task that runs on the laptop and has written its first step. */
async function startTask(): Promise<string> {
  const id = await fleet.client.submit({ agent: 'coder' });
  await laptop.prints(`Task ${id} started`);
  await waitFor(async () => (await fleet.client.call('GET', `/v1/tasks/${id}`)).body.status === 'running', {
    deadlineMs: 20_000,
    what: 'the task to run',
  });
  return id;
}

/** What the task has written so far. */
async function streamed(id: string): Promise<string> {
  const { body } = await fleet.client.call('GET', `/v1/tasks/${id}`);
  return String(body.output ?? '');
}

/** How the task ended. */
async function end(id: string): Promise<{ status: string | undefined; output: string | null | undefined }> {
  const [task] = await fleet.client.ended([id], 60_000);
  return { status: task?.status, output: task?.output };
}

/** What the tenant's people were notified of from the beginning, until there are so many. */
async function notifications(count: number): Promise<unknown[][]> {
  const kinds = encodeURIComponent('daemon.*,task.waiting-for-daemon');
  const reader = await readEvents(`${api.url}/v1/notifications/stream?kinds=${kinds}`, {
    key: fleet.adminKey,
    lastEventId: '0-0',
  });
  const found = (): Record<string, unknown>[] =>
    reader.events.filter(({ event }) => event === 'notification').map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  await waitFor(() => found().length >= count, { deadlineMs: 20_000, what: `${count} notifications` });
  await reader.leave();
  return found().map(({ kind, name, detail }) => [kind, name ?? detail]);
}

const completedBy = (attempt: number): object => ({ status: 'completed', output: outputOf(attempt) });

async function reasons(id: string): Promise<{ gate: string; detail: string }[]> {
  const { body } = await fleet.client.call('GET', `/v1/tasks/${id}/why`);
  return body.reasons as { gate: string; detail: string }[];
}

describe("a laptop's day", () => {
  beforeAll(async () => {
    [gateway, telegram] = await Promise.all([startHubGateway(), startFakeTelegram()]);
    fleet = await openFleet({
      env: telegram.env,
      settings: {
        agents: { coder: { kind: 'daemon', capabilities: ['code'] } },
        routing: { agent: 'coder' },
        hub: { heartbeatMs: 500, missedHeartbeats: 4, graceMs: GRACE_MS, excludeMs: 500, resendMs: 200, sweepMs: 300 },
      },
    });
    api = await fleet.start('api');
    // The worker does the chores of the fleet; the work is the laptop's.
    [hub, chat] = await Promise.all([startHub(), fleet.start('chat'), fleet.start('worker', { MUSTER_QUEUES: 'maintenance=1' })]);
    const { token } = await fleet.client.make('/v1/daemons', { name: 'laptop', capabilities: ['code'] });
    laptop = startMusterDaemon(['--capabilities', 'code', '--slots', '2', '--', 'sh', '-c', STEPS, '0.3'], {
      hub: gateway.url,
      token: String(token),
      folder,
    });
    await laptop.prints('Connected to ws://');
  }, 180_000);
  afterAll(async () => {
    laptop?.signal('SIGCONT');
    laptop?.signal('SIGKILL');
    await laptop?.ended;
    await fleet?.stop();
    await Promise.all([gateway?.close(), telegram?.close()]);
  });

  it('begins with a task that runs once', async () => {
    expect(await end(await startTask())).toEqual(completedBy(1));
  });

  it('goes on after a sleep beyond the grace: what ran starts again, what came meanwhile waits with a reason', async () => {
    const cut = await startTask();
    lost.push(cut);
    const seen = await notifications(1);
    laptop.signal('SIGSTOP');
    await waitFor(async () => (await fleet.client.attempts(cut))[0]?.error?.code === 'DAEMON_DISCONNECTED', {
      deadlineMs: 30_000,
      what: 'the attempt to be lost',
    });
    const later = await fleet.client.submit({ agent: 'coder', requirements: { targetDaemon: 'laptop' } });
    const reason = await waitFor(async () => (await reasons(later)).find(({ gate }) => gate === 'daemon'), {
      deadlineMs: 20_000,
      what: 'the reason',
    });
    expect(reason.detail).toContain('laptop');
    const { body, headers } = telegram.personWrites({ text: 'deploy it', number: 1 });
    expect((await fetch(`${chat.url}/chat/telegram`, { method: 'POST', headers, body })).status).toBe(200);
    const shown = (text: string): boolean => telegram.shown.some((message) => message.text.includes(text));
    await waitFor(() => shown('It waits for a daemon: no daemon is connected'), { deadlineMs: 20_000, what: 'the wait to be told' });
    if (testEnvironment.isChaos) await wait(SLEEP_MS);
    const before = laptop.lines.length;
    laptop.signal('SIGCONT');
    await laptop.prints('Connected to ws://', before);
    // What the daemon lost costs no attempt.
    expect(await end(cut)).toEqual(completedBy(1));
    expect(await end(later)).toEqual(completedBy(1));
    await waitFor(() => shown('1/6'), { deadlineMs: 60_000, what: 'the answer in the chat' });
    expect((await notifications(seen.length + 4)).slice(seen.length)).toEqual([
      ['daemon.disconnected', 'laptop'],
      ['task.waiting-for-daemon', 'It waits for the daemon "laptop", which is not connected'],
      ['task.waiting-for-daemon', 'It waits for a daemon: no daemon is connected'],
      ['daemon.connected', 'laptop'],
    ]);
    const attempts = await fleet.client.attempts(cut);
    expect(attempts).toHaveLength(2);
    expect(attempts.map(({ status, daemonName }) => [status === 'success', daemonName])).toEqual([
      [false, 'laptop'],
      [true, 'laptop'],
    ]);
    // Its process goes on while the daemon sleeps, so that it may have ended before the daemon speaks with the hub again.
    expect(laptop.lines.slice(before).join('\n')).toMatch(
      new RegExp(`Tasks from before, no longer wanted: 1\\.|refused the result of task ${cut}`),
    );
  });

  it('goes on after a change of the network, without a gap and in the same attempt', async () => {
    const id = await startTask();
    const before = laptop.lines.length;
    expect(gateway.cutAll()).toBeGreaterThan(0);
    await laptop.prints('The connection to the hub was cut. Trying again in', before);
    expect(await end(id)).toEqual(completedBy(1));
  });

  it('goes on while the hub is deployed, without a gap and in the same attempt', async () => {
    const id = await startTask();
    const before = laptop.lines.length;
    const next = await fleet.start('hub');
    gateway.lead([next]);
    await hub.kill('SIGTERM');
    hub = next;
    await laptop.prints('The hub restarts. Trying again in', before);
    expect(await end(id)).toEqual(completedBy(1));
  });

  it('brings what it finished while the hub was away', async () => {
    const id = await startTask();
    // The end is near, so that the hub is away for no longer than its grace.
    await waitFor(async () => (await streamed(id)).includes('1/4'), { deadlineMs: 20_000, what: 'the fourth step' });
    gateway.lead([]);
    gateway.cutAll();
    await laptop.prints(`Task ${id} completed`);
    gateway.lead([hub]);
    expect(await end(id)).toEqual(completedBy(1));
    await laptop.prints(`The hub has the result of task ${id}`);
  });

  it('ends with Ctrl-C: what runs ends first, and nothing was doubled', async () => {
    const id = await startTask();
    laptop.signal('SIGINT');
    await laptop.prints('Taking no more tasks. 1 task still runs here; Ctrl-C again stops it.');
    expect(await laptop.ended).toBe(0);
    expect(await end(id)).toEqual(completedBy(1));
    const starts = laptop.lines.map((line) => /Task (\w+) started: agent coder/.exec(line)?.[1]).filter((task) => task !== undefined);
    const again = starts.filter((task, index) => starts.indexOf(task) !== index);
    expect(new Set(starts).size).toBeGreaterThanOrEqual(lost.length + 7);
    expect(again).toEqual(lost);
  });
});
