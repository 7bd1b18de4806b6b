import { readFileSync } from 'node:fs';
import type { WebSocket } from 'ws';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { wait } from '#shared/time/wait.ts';
import { openFleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectBenchDaemon } from './bench-daemon.ts';
import { cpuSecondsOfService } from '../fixtures/cpu-seconds.ts';
import { print, printHeading } from '../print.ts';
import { percentile } from '../statistics.ts';
import { readSize } from '../bench-options.ts';

// What a thousand daemons cost one hub, and how fast it hands them tasks.
const DAEMONS = readSize(1, 1000);
const TASKS = 500;
const WARM = 30;
const IDLE_MS = 20_000;
const SOON_MS = 60_000;

const settings = { agents: { coder: { kind: 'daemon' as const } } };
const fleet = await openFleet({ settings });
const hub = await fleet.start('hub');
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });

const memoryMb = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
/** Commands to Redis in a second, by name, those within scripts too. */
async function commandRates(): Promise<Map<string, number>> {
  const [from, fromAt] = [await commandCounts(), performance.now()];
  await wait(IDLE_MS);
  const [to, seconds] = [await commandCounts(), (performance.now() - fromAt) / 1000];
  return new Map([...to].map(([name, count]) => [name, (count - (from.get(name) ?? 0)) / seconds]));
}

async function commandCounts(): Promise<Map<string, number>> {
  const lines = (await parts.redis.info('commandstats')).matchAll(/cmdstat_(\S+?):calls=(\d+)/g);
  return new Map([...lines].map(([, name = '', count]) => [name, Number(count)]));
}

/** What the daemons add to the commands of an idle fleet. */
function describeRates(idle: ReadonlyMap<string, number>, withDaemons: ReadonlyMap<string, number>): string {
  const added = [...withDaemons].map(([name, rate]) => ({ name, rate: rate - (idle.get(name) ?? 0) }));
  const total = added.reduce((sum, { rate }) => sum + rate, 0);
  const largest = added.toSorted((one, other) => other.rate - one.rate).slice(0, 5);
  return `${total.toFixed(1)} a second (${largest.map(({ name, rate }) => `${name} ${rate.toFixed(1)}`).join(', ')})`;
}

interface Arrival {
  /** Monotonic, ms. */
  at: number;
  /** By this machine's clock, ms since the epoch. */
  time: number;
}
const arrivals = new Map<string, Arrival>();

async function connect(): Promise<WebSocket> {
  const { socket } = await connectBenchDaemon(parts, hub.url, {
    onMessage: (message, at, daemon) => {
      if (message.type !== 'task.execute') return;
      arrivals.set(message.taskId, { at, time: performance.timeOrigin + at });
      daemon.complete(message);
    },
  });
  return socket;
}

/** When a hub asked BullMQ for the task's ticket, by its clock, ms since the epoch. */
async function askedAt(id: string): Promise<number> {
  const job = await parts.queues.get(parts.keys.shardOf('default'), 'remote').getJob(id);
  return job?.processedOn ?? Number.NaN;
}

/** What a task costs, without the calls that measure it. */
async function printCosts(): Promise<void> {
  const [from, cpu] = [await commandCounts(), await cpuSecondsOfService(hub.url)];
  for (let sent = 0; sent < TASKS; sent += 1) {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'x' });
    await waitFor(() => arrivals.get(id), { deadlineMs: SOON_MS, everyMs: 1, what: 'the task to arrive' });
  }
  const to = await commandCounts();
  const calls = (name: string): number => ((to.get(name) ?? 0) - (from.get(name) ?? 0)) / TASKS;
  const total = [...to.keys()].reduce((sum, name) => sum + calls(name), 0);
  const hubMs = (((await cpuSecondsOfService(hub.url)) - cpu) * 1000) / TASKS;
  print(
    `a task: ${total.toFixed(1)} commands to Redis, of them ${calls('evalsha').toFixed(1)} scripts and ${calls('hget').toFixed(1)} HGET, and ${hubMs.toFixed(2)} ms of the hub's CPU`,
  );
}

function describe(times: readonly number[]): string {
  return [0.5, 0.9, 0.99].map((share) => `p${share * 100} ${percentile(times, share).toFixed(1)} ms`).join(', ');
}

try {
  const idle = await commandRates();
  const before = memoryMb();
  const sockets: WebSocket[] = [];
  while (sockets.length < DAEMONS)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, DAEMONS - sockets.length) }, connect))));
  await printHeading(fleet.redis.url, `${DAEMONS} daemons on one hub`, []);
  print(`memory of the hub per connection: ${(((memoryMb() - before) * 1024) / DAEMONS).toFixed(1)} KiB`);
  print(`commands to Redis for idle daemons: ${describeRates(idle, await commandRates())}`);
  const [times, matches]: [number[], number[]] = [[], []];
  for (let sent = 0; sent < WARM + TASKS; sent += 1) {
    const at = performance.now();
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'x' });
    const arrived = await waitFor(() => arrivals.get(id), { deadlineMs: SOON_MS, everyMs: 1, what: 'the task to arrive' });
    if (sent >= WARM) {
      times.push(arrived.at - at);
      matches.push(arrived.time - (await askedAt(id)));
    }
  }
  print(`from the call that accepts a task to its arrival: ${describe(times)}`);
  print(`from the call that fetches its ticket to its arrival (goal: p99 < 20 ms): ${describe(matches)}`);
  await printCosts();
  for (const socket of sockets) socket.terminate();
} finally {
  await parts.close();
  await fleet.stop();
}
