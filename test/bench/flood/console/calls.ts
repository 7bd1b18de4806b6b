import type { Redis } from 'ioredis';
import { wait } from '#shared/time/wait.ts';
import { cpuSecondsOfRedis } from '../../fixtures/cpu-seconds.ts';
import { print } from '../../print.ts';
import { percentile } from '../../statistics.ts';
import type { BenchFleet } from './start-fleet.ts';

const HOUR_MS = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

const FILTERS: [name: string, query: string][] = [
  ['no filter', ''],
  ['one agent', 'agent=agent-5'],
  ['one status', 'status=permanently_failed'],
  ['agent and status', 'agent=agent-9&status=permanently_failed'],
  ['agent, status and source', 'agent=agent-9&status=completed&source=webhook'],
  ['an agent and a source that never meet', 'agent=agent-5&source=api'],
  ['error code', 'code=ERROR_7'],
  ['error code and agent', 'code=ERROR_7&agent=agent-9'],
  ['session', 'session=session-6'],
  ['schedule', 'schedule=schedule-4'],
  ['schedule and status', 'schedule=schedule-4&status=permanently_failed'],
  ['what waits', 'status=pending%2Cqueued'],
  ['what waits of an agent', 'status=pending%2Cqueued&agent=coder'],
  ['last hour', `since=${ago(1)}`],
  ['a day of failures', `since=${ago(72)}&until=${ago(48)}&status=permanently_failed`],
  ['text that many have', 'q=customer%20471'],
  ['text that few have', 'q=letter%2012345%20'],
  ['text that none has', 'q=no%20such%20text'],
  ['metadata', 'metadata=customer%3A4710'],
  ['metadata and status', 'metadata=customer%3A4710&status=permanently_failed'],
  ['worker', 'worker=worker-3'],
  ['worker that none has', 'worker=nobody'],
];

/** What the pages call besides the lists of tasks. */
const OTHERS: [name: string, path: string][] = [
  ['now: what runs', '/v1/now?limit=12'],
  ['now: metrics', '/v1/metrics'],
  ['now: history', '/v1/metrics/history?minutes=60'],
  ['now: attention', '/v1/attention'],
  ['now: what waits', '/v1/tasks?status=pending%2Cqueued&limit=12'],
  ['now: what failed', '/v1/tasks?status=permanently_failed%2Cfailed%2Ctimeout&limit=12'],
  ['failures', '/v1/failures?limit=200'],
  ['failures of a code', '/v1/failures?limit=200&code=ERROR_7'],
  ['failures of a day', `/v1/failures?limit=200&since=${ago(24)}`],
  ['sessions', '/v1/sessions?sort=activity&limit=50'],
  ['sessions by text', '/v1/sessions?sort=activity&limit=50&q=session-4'],
  ['sessions by text that none has', '/v1/sessions?sort=activity&limit=50&q=nobody'],
  ['sessions that run or wait', '/v1/sessions?sort=activity&limit=50&active=true'],
  ['a session', '/v1/sessions/session-6'],
  ['usage by agent', '/v1/usage?groupBy=agent'],
  ['usage by day', '/v1/usage?groupBy=day'],
  ['agents', '/v1/agents'],
  ['agents: last tasks of one', '/v1/tasks?limit=100&agent=agent-9'],
  ['queues', '/v1/queues'],
  ['fleet', '/v1/fleet'],
  ['schedules', '/v1/schedules'],
  ['deliveries', '/v1/deliveries'],
  ['audit', '/v1/audit'],
];

interface CallPorts {
  readonly fleet: BenchFleet;
  readonly redis: Redis;
  readonly rounds: number;
}

/** Measures every call of the console's pages, each without another one at the time. */
export async function measureCalls(ports: CallPorts): Promise<void> {
  const paths = FILTERS.map(([name, query]): [string, string] => [name, query === '' ? '' : `${query}&`]);
  const tables: [string, [string, string][]][] = [
    ['tasks, pages of 100', paths.map(([name, query]) => [name, `/v1/tasks?${query}limit=100`])],
    ['facets', FILTERS.map(([name, query]) => [name, `/v1/tasks/facets?${query}`])],
    ['other pages', OTHERS],
  ];
  const idle = await readIdle(ports.redis);
  for (const [title, calls] of tables) {
    print(`\n| ${title.padEnd(40)} |  p50, ms |  p99, ms | Redis, ms | script, ms | commands |   kB | answer |`);
    print('| --- | --- | --- | --- | --- | --- | --- | --- |');
    for (const [name, path] of calls) await measureCall({ ...ports, idle }, name, path);
  }
}

async function measureCall({ fleet, redis, rounds, idle }: CallPorts & { idle: RedisStats }, name: string, path: string): Promise<void> {
  const times: number[] = [];
  let answer = await fleet.call('GET', path);
  await resetStats(redis);
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    answer = await fleet.call('GET', path);
    times.push(performance.now() - startedAt);
  }
  const { micros, commands, longest } = await readStats(redis);
  const share = times.reduce((sum, each) => sum + each, 0) / IDLE_MS;
  const own = [micros / 1000 - share * (idle.micros / 1000), commands - share * idle.commands].map((each) => Math.max(0, each) / rounds);
  const figures = [percentile(times, 0.5), percentile(times, 0.99), own[0] ?? 0, longest / 1000].map((each) => each.toFixed(1));
  const cells = [...figures, (own[1] ?? 0).toFixed(0), (answer.length / 1000).toFixed(0)].map((each) => each.padStart(8));
  print(`| ${name.padEnd(40)} | ${cells.join(' | ')} | ${describe(answer)} |`);
}

const IDLE_MS = 5000;
/** The fleet looks at new waiting tasks for some time. */
const CALM_MS = 15_000;

/** What Redis does for the fleet itself in this time. */
async function readIdle(redis: Redis): Promise<RedisStats> {
  await wait(CALM_MS);
  await resetStats(redis);
  await wait(IDLE_MS);
  return await readStats(redis);
}

interface RedisStats {
  /** CPU time of Redis since the last reset. */
  micros: number;
  /** Those of scripts are among them. */
  commands: number;
  /** Microseconds of the longest command. */
  longest: number;
}

let cpuAtReset = 0;

async function resetStats(redis: Redis): Promise<void> {
  await redis.config('RESETSTAT');
  await redis.slowlog('RESET');
  cpuAtReset = await cpuSecondsOfRedis(redis);
}

async function readStats(redis: Redis): Promise<RedisStats> {
  const micros = ((await cpuSecondsOfRedis(redis)) - cpuAtReset) * 1_000_000;
  const stats = await redis.info('commandstats');
  const all = [...stats.matchAll(/^cmdstat_(?!info|config|slowlog)\S+?:calls=(\d+)/gm)];
  const commands = all.reduce((sum, [, calls]) => sum + Number(calls), 0);
  const slow = (await redis.slowlog('GET', 100)) as [id: number, at: number, spent: number][];
  return { micros, commands, longest: Math.max(0, ...slow.map(([, , spent]) => spent)) };
}

interface Answer {
  items?: unknown[];
  total?: unknown;
  isLowerBound?: boolean;
  search?: { scanned: number; back: string | null };
}

function describe(text: string): string {
  const { items, total, isLowerBound, search } = JSON.parse(text) as Answer;
  if (typeof total === 'number') return `${isLowerBound ? 'at least ' : ''}${total}`;
  if (items === undefined) return '';
  const back = search?.back
    ? `, of ${search.scanned} checked, ${((Date.now() - Date.parse(search.back)) / HOUR_MS).toFixed(1)} h back`
    : '';
  return `${items.length}${back}`;
}
