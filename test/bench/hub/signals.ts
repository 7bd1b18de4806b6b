import type { HubMessage } from '#shared/daemons/protocol.ts';
import { DaemonDispatcher } from '#shared/daemons/dispatch/daemon-dispatcher.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { offerInput } from '#shared/queue/accept/offer-input.ts';
import { cancelTree } from '#shared/queue/tickets/cancel-tree.ts';
import { startHub } from '../../support/daemons/start-hub.ts';
import { openFleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { connectBenchDaemon, type BenchDaemon } from './bench-daemon.ts';
import { print, printHeading } from '../print.ts';
import { percentile } from '../statistics.ts';
import { readSize } from '../bench-options.ts';

// How fast a hub hands a matched task to its daemon, and how fast stops and messages reach it.
const SAMPLES = readSize(1, 300);
/** Before them: code compiled, scripts loaded. */
const WARM = 30;
const SOON_MS = 30_000;

type Type = 'task.execute' | 'task.cancel' | 'task.input';

const settings = { agents: { coder: { kind: 'daemon' as const, takesInput: true } }, hub: { resendMs: 10_000 } };
const fleet = await openFleet({ settings });
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });

/** When a task's first message of a type arrived, by `<type> <task>`. */
const arrivals = new Map<string, number>();
const waiters = new Map<string, (at: number) => void>();

function receive(message: HubMessage, at: number, daemon: BenchDaemon): void {
  if (message.type !== 'task.execute' && message.type !== 'task.cancel' && message.type !== 'task.input') return;
  const key = `${message.type} ${message.taskId}`;
  if (arrivals.has(key)) return;
  arrivals.set(key, at);
  waiters.get(key)?.(at);
  if (message.type !== 'task.cancel') return;
  const { taskId, token } = message;
  daemon.socket.send(JSON.stringify({ type: 'task.failed', taskId, token, error: { code: 'CANCELLED' } }));
}

async function arrival(type: Type, task: string): Promise<number> {
  const key = `${type} ${task}`;
  const arrived = Promise.withResolvers<number>();
  waiters.set(key, arrived.resolve);
  const at = arrivals.get(key);
  if (at !== undefined) return at;
  const timer = setTimeout(() => arrived.reject(new Error(`no ${key} in ${SOON_MS} ms`)), SOON_MS);
  return await arrived.promise.finally(() => clearTimeout(timer));
}

/** A task that runs on the daemon. */
async function start(session?: string): Promise<string> {
  const request = { tenant: 'default', agent: 'coder', input: 'x', ...(session === undefined ? {} : { session }) };
  const { id } = await acceptTask(parts, request);
  await arrival('task.execute', id);
  return id;
}

async function measure(what: string, goal: string, sample: () => Promise<number>): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < WARM + SAMPLES; count += 1) {
    const ms = await sample();
    if (count >= WARM) times.push(ms);
  }
  const cells = [0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(1).padStart(9)).join('');
  print(`${what.padEnd(58)}${cells}   ${goal}`);
}

async function sampleCancel(): Promise<number> {
  const id = await start();
  const from = performance.now();
  await cancelTree(parts.ledger, 'default', id, 'bench');
  return (await arrival('task.cancel', id)) - from;
}

async function sampleInterrupt(): Promise<number> {
  const session = crypto.randomUUID();
  const id = await start(session);
  const from = performance.now();
  const next = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'y', session, mode: 'interrupt', source: 'chat' });
  const at = await arrival('task.cancel', id);
  await arrival('task.execute', next.id);
  await cancelTree(parts.ledger, 'default', next.id, 'bench');
  await arrival('task.cancel', next.id);
  return at - from;
}

async function sampleInput(): Promise<number> {
  const id = await start();
  const from = performance.now();
  await offerInput(parts, { tenant: 'default', task: id, input: 'more' });
  const at = await arrival('task.input', id);
  await cancelTree(parts.ledger, 'default', id, 'bench');
  await arrival('task.cancel', id);
  return at - from;
}

/** From the moment that a hub in this process has the task's ticket. */
async function measureMatches(): Promise<void> {
  const matched = new Map<string, number>();
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this`
  const { handle } = DaemonDispatcher.prototype;
  DaemonDispatcher.prototype.handle = async function handleMeasured(ticket, how) {
    matched.set(ticket.task, performance.now());
    return await handle.call(this, ticket, how);
  };
  const hub = await startHub(parts);
  await connectBenchDaemon(parts, hub.url.replace('/hub', ''), { slots: 50, onMessage: receive });
  await measure('match to execute, the hub in this process', 'p99 < 20', async () => {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'x' });
    const at = await arrival('task.execute', id);
    await cancelTree(parts.ledger, 'default', id, 'bench');
    await arrival('task.cancel', id);
    return at - (matched.get(id) ?? Number.NaN);
  });
  await hub.stop();
}

try {
  await printHeading(fleet.redis.url, 'A hub and its daemon', [
    'The calls are made in this process, one at a time, and the daemon is a socket of it. The hub is a process of its own but for the last',
    'line; all on loopback.',
  ]);
  print(`\n${`ms, of ${SAMPLES} each`.padEnd(58)}      p50      p99      max   goal`);
  const hub = await fleet.start('hub');
  const { socket } = await connectBenchDaemon(parts, hub.url, { slots: 50, onMessage: receive });
  await measure('a cancel, from the call to the daemon', 'p99 < 50', sampleCancel);
  await measure('a message that interrupts, to task.cancel', 'p99 < 50', sampleInterrupt);
  await measure('input, from the call to task.input', 'p99 < 50', sampleInput);
  socket.terminate();
  await hub.kill();
  await measureMatches();
} finally {
  await parts.close();
  await fleet.stop();
}
