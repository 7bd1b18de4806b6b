import { setTimeout as delay } from 'node:timers/promises';
import { Daemon } from 'muster/daemon';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonProcess, startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { type HubGateway, startHubGateway } from '../../support/daemons/hub-gateway.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';

const FULL = { sockets: 180, processes: 20, tasks: 5000, taskMs: 2000, kills: 10, perSecond: 80 };
const SMALL = { sockets: 20, processes: 2, tasks: 90, taskMs: 800, kills: 1, perSecond: 10 };
const SIZE = testEnvironment.isChaos ? FULL : SMALL;
const HUBS = 3;
const SLOTS = 2;
const PAUSE_MS = 1500;
const DEADLINE_MS = 600_000;

const CAPABILITIES = ['browser', 'code', 'desktop', 'gpu', 'mail', 'repository'];
/** Three of them each, so that each two are together on some daemons. */
const TRIPLES = ['012', '013', '024', '035', '045', '125', '134', '145', '234', '235'].map((numbers) =>
  Array.from(numbers, (number) => CAPABILITIES[Number(number)] ?? ''),
);
const PAIRS = CAPABILITIES.flatMap((a, x) => CAPABILITIES.slice(x + 1).map((b) => [a, b]));
/** Only processes have it, so that they are busy when they are killed. */
const SHELL = 'shell';

interface Requirements {
  readonly capabilities: string[];
  readonly cpuIntensive?: boolean;
  readonly memoryMb?: number;
}

/** Thirty kinds: each capability, each two, some with a heavy load, and some that only processes can run. */
const KINDS: readonly Requirements[] = [
  ...CAPABILITIES.map((one) => ({ capabilities: [one] })),
  ...PAIRS.map((capabilities) => ({ capabilities })),
  ...CAPABILITIES.map((one) => ({ capabilities: [one], cpuIntensive: true })),
  { capabilities: [SHELL] },
  { capabilities: [SHELL], memoryMb: 64 },
  { capabilities: [SHELL], cpuIntensive: true },
];

interface Machine {
  readonly id: string;
  readonly capabilities: readonly string[];
}

const folder = await useFolder();
let fleet: Fleet;
let gateway: HubGateway;
const hubs: ServiceProcess[] = [];
const machines: Machine[] = [];
const daemons: Daemon[] = [];
const ends: Promise<unknown>[] = [];
const processes: { machine: Machine; start: () => DaemonProcess; current: DaemonProcess }[] = [];
/** Differences between the shares of slots that two daemons of the same capabilities used at the same moment. */
const differences: number[] = [];

async function register(index: number, more: readonly string[] = []): Promise<Machine & { token: string }> {
  const capabilities = [...(TRIPLES[index % TRIPLES.length] ?? []), ...more];
  const { id, token } = await fleet.client.make('/v1/daemons', { name: `machine-${index}`, capabilities, slots: SLOTS });
  const machine = { id: String(id), capabilities, token: String(token) };
  machines.push(machine);
  return machine;
}

/** A daemon of this process, over a socket of its own. */
async function startSocketDaemon(index: number): Promise<void> {
  const { token, capabilities } = await register(index);
  const daemon: Daemon = new Daemon({
    hub: gateway.url,
    token,
    capabilities,
    slots: SLOTS,
    reconnect: { minMs: 50, maxMs: 1000 },
    measure: () => ({ load: daemon.running / SLOTS, memoryMb: 1024 }),
    handler: async (task, { signal, write }) => {
      write('done by a socket');
      await delay(SIZE.taskMs, undefined, { signal });
      return { result: { attempt: task.attempt } };
    },
  });
  daemons.push(daemon);
  ends.push(daemon.run().catch((error: unknown) => error));
}

async function startProcessDaemon(index: number): Promise<void> {
  const { token, ...machine } = await register(index, [SHELL]);
  const command = ['--', 'sh', '-c', `echo done by a process; sleep ${SIZE.taskMs / 1000}`];
  const args = ['--capabilities', machine.capabilities.join(','), '--slots', String(SLOTS), ...command];
  const start = (): DaemonProcess => startMusterDaemon(args, { hub: gateway.url, token, folder });
  const current = start();
  processes.push({ machine, start, current });
  await current.prints('Connected to ws://');
}

const anyOf = (count: number): number => Math.floor(Math.random() * count);

async function replaceHub(index: number): Promise<void> {
  await hubs[index]?.kill();
  hubs.splice(index, 1, await fleet.start('hub'));
  gateway.lead(hubs);
}

async function replaceProcess(): Promise<void> {
  const chosen = processes[anyOf(processes.length)];
  if (chosen === undefined) return;
  chosen.current.signal('SIGKILL');
  await chosen.current.ended;
  chosen.current = chosen.start();
}

async function freezeProcess(): Promise<void> {
  const { current } = processes[anyOf(processes.length)] ?? {};
  current?.signal('SIGSTOP');
  await delay(PAUSE_MS);
  current?.signal('SIGCONT');
}

function measureDifferences(): void {
  for (const [index, { running }] of daemons.entries()) {
    const twin = daemons[index + TRIPLES.length];
    if (twin !== undefined && running + twin.running > 0) differences.push(Math.abs(running - twin.running) / SLOTS);
  }
}

describe('three hubs and many daemons', () => {
  beforeAll(async () => {
    gateway = await startHubGateway();
    fleet = await openFleet({
      settings: {
        agents: { anything: { kind: 'daemon' } },
        hub: {
          heartbeatMs: 1000,
          missedHeartbeats: 3,
          graceMs: 8000,
          excludeMs: 2000,
          resendMs: 300,
          sweepMs: 500,
          maxDaemonsPerTenant: 1000,
        },
      },
    });
    await fleet.start('api');
    const opened = Array.from({ length: HUBS }, () => fleet.start('hub'));
    await Promise.all([...opened.map(async (each) => hubs.push(await each)), fleet.start('worker', { MUSTER_QUEUES: 'maintenance=2' })]);
    gateway.lead(hubs);
    for (let index = 0; index < SIZE.sockets; index += 1) await startSocketDaemon(index);
    await Promise.all(Array.from({ length: SIZE.processes }, (_, index) => startProcessDaemon(SIZE.sockets + index)));
  }, DEADLINE_MS);

  afterAll(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await Promise.all(ends);
    for (const { current } of processes) {
      current.signal('SIGCONT');
      current.signal('SIGKILL');
      await current.ended;
    }
    await fleet?.stop();
    await gateway?.close();
  }, DEADLINE_MS);

  it(
    'run each task once, on a daemon that can, whatever is killed, frozen and cut off',
    async () => {
      expect(KINDS).toHaveLength(30);
      const cuts = repeatUntilStopped(() => Promise.resolve(gateway.cutOne(anyOf)), PAUSE_MS / 3);
      const polls = repeatUntilStopped(() => Promise.resolve(measureDifferences()), 50);
      const startedAt = performance.now();
      const wanted: Requirements[] = [];
      const ids: string[] = [];
      const disturbed = new AbortController();
      // As long as something is killed there is work, so that it is killed during work.
      const submit = async (): Promise<void> => {
        while (!disturbed.signal.aborted || ids.length < SIZE.tasks) {
          const requirements = KINDS[ids.length % KINDS.length] ?? { capabilities: [] };
          wanted.push(requirements);
          ids.push(await fleet.client.submit({ agent: 'anything', requirements }));
          await delay(1000 / SIZE.perSecond);
        }
      };
      const disturb = async (): Promise<void> => {
        for (let index = 0; index < SIZE.kills; index += 1) {
          await replaceHub(index % HUBS);
          await replaceProcess();
          await freezeProcess();
        }
        disturbed.abort();
      };
      await Promise.all([submit(), disturb()]);
      const tasks = await fleet.client.ended(ids, DEADLINE_MS / 2);
      await cuts.stop();
      await polls.stop();

      expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
      const capabilitiesOf = new Map(machines.map(({ id, capabilities }) => [id, capabilities]));
      let attempts = 0;
      for (const [index, id] of ids.entries()) {
        const all = (await fleet.client.attempts(id)) as unknown as { status: string; daemon: string }[];
        attempts += all.length;
        expect({ id, successes: all.filter(({ status }) => status === 'success').length }).toEqual({ id, successes: 1 });
        const needed = wanted[index]?.capabilities ?? [];
        const unable = all.filter(({ daemon }) => needed.some((each) => !(capabilitiesOf.get(daemon) ?? []).includes(each)));
        expect({ id, unable }).toEqual({ id, unable: [] });
      }
      const seconds = (performance.now() - startedAt) / 1000;
      const mean = differences.reduce((sum, each) => sum + each, 0) / Math.max(1, differences.length);
      reportFigure(
        'many daemons',
        `${ids.length} tasks of ${KINDS.length} kinds on ${machines.length} daemons in ${seconds.toFixed(0)} s, ${attempts} attempts, ` +
          `${SIZE.kills} hubs and ${SIZE.kills} daemons killed; daemons of the same capabilities differed by ${mean.toFixed(2)} of their ${SLOTS} slots on average`,
      );
    },
    DEADLINE_MS,
  );
});
