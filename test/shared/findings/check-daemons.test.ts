import { expect, it } from 'vitest';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { createDaemon } from '#shared/daemons/daemon-store.ts';
import { writeDaemonStates } from '#shared/daemons/daemon-states.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { NO_BLOCKS } from '#shared/queue/registry/worker-report.ts';
import { checkRows } from './check-rows.ts';
import { daemonState } from '../../support/daemons/daemon-state.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts({ agents: { desk: { kind: 'daemon' } } });
const { redis, keys, queues, config } = parts;
const fleet = { redis, keys, seal: new Seal(), queues, settings: config.settings };
const REGISTRATION = { tenant: 'default', name: 'laptop', user: null, capabilities: null, slots: null, agents: null, enabled: true };

async function connect(id: string): Promise<void> {
  const state = daemonState({ connection: 'h:1', hub: 'h', slots: 1 });
  await writeDaemonStates(parts, [{ tenant: 'default', id, state, isFirst: true }]);
}

async function startHub(stopped: string[] = []): Promise<void> {
  const identity = { host: 'a', pid: 1, version: '1', startedAt: 1, queues: ['remote'], slots: 1, isDraining: false };
  const activity = { running: 0, suspects: 0, stopped, blocks: NO_BLOCKS, skewMs: 0, memoryMb: 1, cpu: 0, eventLoopDelayMs: 0 };
  await beat(fleet, 'h', { role: 'hub', ...identity, ...activity });
}

const checks = (): Promise<string[]> => checkRows(fleet, 'Hubs', 'Daemons', 'Tasks for daemons');

it('has nothing to say of a fleet without daemons', async () => {
  expect(await checks()).toEqual(['ok Hubs: none is running', 'ok Daemons: none is registered', 'ok Tasks for daemons: none waits']);
});

it('warns of a missing hub once a daemon is registered, and of tasks that wait for a daemon', async () => {
  await createDaemon(parts, REGISTRATION, 10);
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'desk', input: 'held' });
  await parts.relay.idle();
  await holdTask(parts.ledger, { tenant: 'default', id, hold: { gate: 'daemon', what: '{}' }, until: null });
  // A hub ends the ticket of a task that it holds.
  await Promise.all(parts.queues.all().map(async ({ queue }) => await queue.drain()));
  await acceptTask(parts, { tenant: 'default', agent: 'desk', input: 'ready' });
  await parts.relay.idle();
  expect(await checks()).toEqual([
    'warn Hubs: No hub is running, so that no daemon can connect, and 2 tasks wait for one. Start the service hub.',
    'ok Daemons: 1 registered, 0 connected',
    expect.stringMatching(/^warn Tasks for daemons: 1 task waits for a daemon that is offline, full or missing\. Connect one that fits/),
  ]);
});

it('counts hubs and connected daemons, and names what does not move in a hub', async () => {
  await startHub(['it receives no messages']);
  await connect((await createDaemon(parts, REGISTRATION, 10)).daemon.id);
  await acceptTask(parts, { tenant: 'default', agent: 'desk', input: 'ready' });
  await parts.relay.idle();
  expect(await checks()).toEqual(['ok Hubs: 1 running', 'ok Daemons: 1 registered, 1 connected', 'ok Tasks for daemons: none waits']);
  const [stopped] = await checkRows(fleet, 'Processes');
  expect(stopped).toMatch(/^fail Processes: h can take no work: it receives no messages\. /);
});
