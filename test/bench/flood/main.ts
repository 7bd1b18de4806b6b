import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from '../../support/redis/start-redis.ts';
import { bullmqFlood, roundRobinFlood } from './bullmq-floods.ts';
import type { FloodSystem } from './flood-system.ts';
import { openMusterFlood } from './muster-flood.ts';

import { print, printHeading } from '../print.ts';
import { percentile } from '../statistics.ts';
import { readSize } from '../bench-options.ts';

// What a tenant's flood costs nine others, each of which sends one task a second.
const FLOOD = readSize(1, 100_000);
const SECONDS = readSize(2, 60);
const TENANTS = Array.from({ length: 9 }, (_, n) => `tenant-${n + 1}`);
const FLOODER = 'default';
const SLOTS = 8;
/** At least, and that much more at most. */
const WORK_MS = 100;
const SPREAD_MS = 200;
/** Before the first counts: code compiled, scripts loaded, all slots in use. */
const WARM_MS = 3000;

interface Column {
  name: string;
  flood: number;
  open: (redisUrl: string) => Promise<FloodSystem>;
}

const options = { slots: SLOTS, workMs: () => WORK_MS + Math.random() * SPREAD_MS, tenants: [FLOODER, ...TENANTS] };
const COLUMNS: readonly Column[] = [
  { name: 'Muster, nothing else waits', flood: 0, open: (url) => openMusterFlood(url, options) },
  { name: 'Muster, behind the flood', flood: FLOOD, open: (url) => openMusterFlood(url, options) },
  { name: 'one BullMQ queue for all, behind the flood', flood: FLOOD, open: (url) => bullmqFlood(url, options) },
  { name: 'a BullMQ queue per tenant, in turn, behind it', flood: FLOOD, open: (url) => roundRobinFlood(url, options) },
];

/** Waits of the nine, ms. One that has not started by the end has waited until then at least. */
async function measure({ flood, open }: Column): Promise<{ waits: number[]; missing: number; addedPerSecond: number }> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  const system = await open(server.url);
  try {
    const from = performance.now();
    if (flood > 0) await system.flood(FLOODER, flood);
    const addedPerSecond = flood / ((performance.now() - from) / 1000);
    await system.start();
    await delay(WARM_MS);
    const sent: { id: string; at: number }[] = [];
    for (let second = 0; second < SECONDS; second += 1) {
      for (const tenant of TENANTS) {
        const at = performance.now();
        sent.push({ id: await system.submit(tenant), at });
        await delay(Math.max(0, 1000 / TENANTS.length - (performance.now() - at)));
      }
    }
    const endsAt = performance.now();
    const started = sent.map(({ id }) => system.startedAt(id));
    const waits = sent.map(({ at }, position) => (started[position] ?? endsAt) - at);
    return { waits, missing: started.filter((each) => each === undefined).length, addedPerSecond };
  } finally {
    await system.close();
    await server.stop();
  }
}

const ms = (value: number): string => value.toFixed(0).padStart(9);

const heading = await startRedis();
await printHeading(heading.url, 'A flood of one tenant', [
  `One tenant has ${FLOOD} tasks of ${WORK_MS} to ${WORK_MS + SPREAD_MS} ms waiting for ${SLOTS} slots. Nine others send one such task a second each, for ${SECONDS} s.`,
  'Their wait is from the call that submits a task to the start of its agent. Producer and worker are one process.',
]);
await heading.stop();
print(`\n${'ms'.padEnd(50)}      p50      p99      max   not started   flood added a second`);
for (const column of COLUMNS) {
  const { waits, missing, addedPerSecond } = await measure(column);
  const cells = [0.5, 0.99, 1].map((share) => ms(percentile(waits, share))).join('');
  const rate = column.flood === 0 ? '' : addedPerSecond.toFixed(0).padStart(10);
  print(`${column.name.padEnd(50)}${cells}${`${missing}`.padStart(14)}${rate}`);
}
