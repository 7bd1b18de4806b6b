import { type SettingsInput, settingsSchema } from '#shared/config/settings/settings.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { readOwedTickets } from '#shared/queue/tickets/ticket.ts';
import { countHeldByGate } from '#shared/ledger/grants/hold-task.ts';
import { openFleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { cpuSecondsOfRedis, cpuSecondsOfService } from '../fixtures/cpu-seconds.ts';
import { connectBenchDaemon } from './bench-daemon.ts';
import { print } from '../print.ts';
import { readSize } from '../bench-options.ts';

// What tasks cost that no daemon can run, and how they start once daemons connect that can.
const LARGEST = readSize(1, 10_000);
const SIZES = [LARGEST / 4, LARGEST / 2, LARGEST];
const KINDS = 100;
const SLOTS = 2;
const BATCH = 500;
const LONG_MS = 600_000;

interface Cost {
  commands: number;
  scripts: number;
  redis: number;
  hub: number;
  seconds: number;
}

/** Parks so many tasks of a hundred kinds on a fleet of their own, then connects a daemon for each kind. */
async function measure(tasks: number): Promise<void> {
  // Times as a fleet has them by default: under the tests' short ones a loaded machine gives tickets out again.
  const settings: SettingsInput = { agents: { coder: { kind: 'daemon' } }, worker: settingsSchema.parse({}).worker };
  const fleet = await openFleet({ settings });
  const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
  try {
    const hub = await fleet.start('hub');
    const total = async (): Promise<Cost> => {
      const counts = new Map(
        [...(await parts.redis.info('commandstats')).matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].map(([, name = '', calls]) => [
          name,
          Number(calls),
        ]),
      );
      return {
        commands: counts.values().reduce((sum, calls) => sum + calls, 0),
        scripts: (counts.get('evalsha') ?? 0) + (counts.get('eval') ?? 0),
        redis: await cpuSecondsOfRedis(parts.redis),
        hub: await cpuSecondsOfService(hub.url),
        seconds: performance.now() / 1000,
      };
    };
    const before = await total();
    for (let from = 0; from < tasks; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, tasks - from) }, (_, at) => ({
        tenant: 'default',
        agent: 'coder',
        input: 'x',
        requirements: { capabilities: [`kind-${(from + at) % KINDS}`] },
      }));
      await acceptTasks(parts, batch);
      await parts.relay.idle();
    }
    await addOwedTickets(parts);
    const allHeld = async (): Promise<boolean> => (await countHeldByGate(parts.ledger, 'default', 'daemon')) === tasks;
    await waitFor(allHeld, { deadlineMs: LONG_MS, everyMs: 200, what: 'all tasks to be held' });
    const held = await total();
    const ran = new Set<string>();
    await Promise.all(
      Array.from({ length: KINDS }, (_, kind) =>
        connectBenchDaemon(parts, hub.url, {
          capabilities: [`kind-${kind}`],
          slots: SLOTS,
          onMessage: (message, _at, daemon) => {
            if (message.type !== 'task.execute') return;
            ran.add(message.taskId);
            daemon.complete(message);
          },
        }),
      ),
    );
    await waitFor(() => ran.size === tasks, { deadlineMs: LONG_MS, everyMs: 50, what: `${tasks} tasks to run` });
    const done = await total();
    row(`${tasks}, accepted and held`, tasks, before, held);
    row(`${tasks}, released and run`, tasks, held, done);
  } finally {
    await parts.close();
    await fleet.stop();
  }
}

/** No worker runs that would sweep: a call that came too late on a busy machine leaves tickets in the outbox. */
async function addOwedTickets({ redis, keys, ledger, relay }: Parts): Promise<void> {
  const { outbox } = keys.shard(keys.shardOf('default'));
  for (;;) {
    const entries = await redis.zrange(outbox, '0', '-1');
    const owed = await readOwedTickets(ledger, entries);
    if (owed.length === 0) return;
    for (const ticket of owed) relay.add(ticket);
    await relay.idle();
  }
}

function row(name: string, tasks: number, from: Cost, to: Cost): void {
  const perTask = (field: keyof Cost, scale = 1): string => (((to[field] - from[field]) * scale) / tasks).toFixed(1).padStart(10);
  const seconds = (to.seconds - from.seconds).toFixed(1).padStart(10);
  print(`${name.padEnd(30)}${perTask('commands')}${perTask('scripts')}${perTask('redis', 1e6)}${perTask('hub', 1e6)}${seconds}`);
}

print(`\n${'per task'.padEnd(30)}  commands   scripts  Redis µs    hub µs   s in all`);
for (const size of SIZES) await measure(size);
