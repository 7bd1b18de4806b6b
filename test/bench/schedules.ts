import { Redis } from 'ioredis';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import { createSchedule } from '#shared/schedules/changes/create-schedule.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { scheduleRequestSchema, type ScheduleRequest } from '#shared/schedules/changes/schedule-request.ts';
import type { Task } from '#shared/tasks/task.ts';
import { wait } from '#shared/time/wait.ts';
import { openFleet } from '../support/fleet/open-fleet.ts';
import { openTestParts } from '../support/open-test-parts.ts';
import { waitFor } from '../support/wait-for.ts';
import { cpuSecondsOfRedis, cpuSecondsOfService } from './fixtures/cpu-seconds.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { print, printHeading } from './print.ts';
import { requestOf } from './fixtures/schedule-requests.ts';
import { percentile } from './statistics.ts';
import { readSize } from './bench-options.ts';

// What very many schedules cost, and how late they fire when many are due at once.
const SCHEDULES = readSize(1, 100_000);
const IN_FLIGHT = 50;
const IDLE_MS = 10_000;
/** Due in the same second, so many times, so far apart; and once before, uncounted: code compiled, scripts loaded. */
const TOGETHER = 1000;
const TIMES = 3;
const APART_MS = 10_000;
const TENANT = 'default';
const GOAL_BYTES = 2048;
const GOAL_LAG_MS = 1000;

const settings: SettingsInput = { agents: { echo: { kind: 'echo' } }, worker: settingsSchema.parse({}).worker };
const redisArgs = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];
const fleet = await openFleet({ settings, redisArgs });
await fleet.start('api');
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
const scheduling = openScheduleParts(parts);
const monitor = new Redis(fleet.redis.url);

const make = async (request: ScheduleRequest): Promise<unknown> => await createSchedule(scheduling, request, { tenant: TENANT });
const usedMemory = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await monitor.info('memory'))?.[1]);

function row(name: string, measured: string, goal = ''): void {
  print(`${name.padEnd(64)}${measured.padStart(12)}${goal}`);
}

async function measureMaking(): Promise<void> {
  const before = await usedMemory();
  const rate = await perSecond(SCHEDULES, () => inFlight(SCHEDULES, IN_FLIGHT, (index) => make(requestOf(index))));
  const taken = (await usedMemory()) - before;
  row(`made, a second (one process, ${IN_FLIGHT} in flight)`, rate.toFixed(0));
  const own = parts.keys.tenant(TENANT);
  const due = parts.keys.shard(parts.keys.shardOf(TENANT)).schedulesDue;
  const eachKey = async (key: string): Promise<number> => ((await monitor.memory('USAGE', key, 'SAMPLES', 0)) ?? 0) / SCHEDULES;
  const [records, numbers, dueTimes] = await Promise.all([own.schedules, own.scheduleNumbers, due].map((key) => eachKey(key)));
  const [a = 0, b = 0, c = 0] = [records, numbers, dueTimes];
  row('bytes of Redis for each, in our keys (MEMORY USAGE)', (a + b + c).toFixed(0), `   ${GOAL_BYTES} or less`);
  print(`  its record ${a.toFixed(0)}, its number ${b.toFixed(0)}, when it is due ${c.toFixed(0)}`);
  row('bytes by which Redis grew for each (used_memory), events included', (taken / SCHEDULES).toFixed(0));
}

/** Starts the scheduler, waits until it has compared all records, and then measures its work while nothing is due. */
async function measureIdle(): Promise<void> {
  const { url } = await fleet.start('scheduler');
  const cpu = async (): Promise<[number, number]> => [await cpuSecondsOfService(url), await cpuSecondsOfRedis(monitor)];
  const shareOver = async (ms: number): Promise<[number, number]> => {
    const [startedAt, before] = [performance.now(), await cpu()];
    await wait(ms);
    const [after, elapsed] = [await cpu(), (performance.now() - startedAt) / 1000];
    return [(after[0] - before[0]) / elapsed, (after[1] - before[1]) / elapsed];
  };
  const isCalm = async (): Promise<boolean> => (await shareOver(1000))[0] < 0.2;
  await waitFor(isCalm, { deadlineMs: 120_000, what: 'the scheduler to have compared all records' });
  row('CPU seconds of the scheduler until it has started and compared all', (await cpu())[0].toFixed(1));
  const [scheduler, redis] = await shareOver(IDLE_MS);
  row(`% of a core when nothing is due (${IDLE_MS / 1000} s): the scheduler`, (scheduler * 100).toFixed(1));
  row('% of a core when nothing is due: Redis', (redis * 100).toFixed(1));
}

async function runsOf(occurrences: readonly number[], since: number): Promise<Task[]> {
  const found: Task[] = [];
  let before: string | undefined;
  do {
    const page = await listTasks(parts.ledger, TENANT, { source: 'schedule', since }, { limit: 1000, before });
    found.push(...page.items.filter(({ body }) => occurrences.includes(body.scheduledFor ?? 0)));
    before = page.next ?? undefined;
  } while (before !== undefined);
  return found;
}

async function measureLag(): Promise<void> {
  await fleet.start('worker', { MUSTER_QUEUES: 'schedules=50,maintenance=1' });
  // Just after one such second, so that all are there before the next.
  await wait(APART_MS - (Date.now() % APART_MS) + 500);
  const madeAt = Date.now();
  const first = Math.ceil(madeAt / APART_MS) * APART_MS;
  const occurrences = Array.from({ length: TIMES }, (_, position) => first + (position + 1) * APART_MS);
  const rule = { cron: `*/${APART_MS / 1000} * * * * *`, until: new Date(occurrences.at(-1) ?? first).toISOString(), tz: 'UTC' };
  const request = scheduleRequestSchema.parse({ ...rule, agent: 'echo', message: 'now' });
  await inFlight(TOGETHER, IN_FLIGHT, () => make(request));
  if (Date.now() >= first) throw new Error(`${TOGETHER} schedules could not be made in ${APART_MS} ms`);
  await wait((occurrences.at(-1) ?? first) - Date.now());
  const runs = await waitFor(
    async () => {
      const all = await runsOf(occurrences, madeAt);
      return all.length === TOGETHER * TIMES && all.every(({ state }) => state.completedAt !== undefined) ? all : null;
    },
    { deadlineMs: 120_000, everyMs: 1000, what: `${TOGETHER * TIMES} runs to end` },
  );
  const lag = (at: 'createdAt' | 'startedAt'): number[] => runs.map(({ body, state }) => (state[at] ?? 0) - (body.scheduledFor ?? 0));
  print(`\n${`ms, ${TOGETHER} due in the same second, ${TIMES} times (after one uncounted)`.padEnd(64)}      p50      p99      max   goal`);
  lagRow('from the occurrence to the acceptance of its task', lag('createdAt'), `   p99 < ${GOAL_LAG_MS}`);
  lagRow('from the occurrence to the start of its agent (one worker)', lag('startedAt'), `   p99 < ${GOAL_LAG_MS}`);
  const skipped = runs.filter(({ state }) => state.status !== 'completed').length;
  if (skipped > 0) print(`${skipped} of ${runs.length} runs did not complete`);
}

function lagRow(name: string, values: readonly number[], goal: string): void {
  const cells = [0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(0).padStart(9)).join('');
  print(`${name.padEnd(64)}${cells}${goal}`);
}

try {
  await printHeading(fleet.redis.url, `${SCHEDULES} schedules`, [
    'Crons, phrases, heartbeats and one-shots of one tenant, made as the API makes them; one scheduler, one worker and Redis are',
    'processes of their own.',
  ]);
  print(`\n${''.padEnd(64)}    measured   goal`);
  await measureMaking();
  await measureIdle();
  await measureLag();
} finally {
  monitor.disconnect();
  await parts.close();
  await fleet.stop();
}
