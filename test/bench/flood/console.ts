import { decodeTime, ulid } from 'ulid';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { bodyText, firstState } from '#shared/ledger/codec/body.ts';
import { lookupsOf } from '#shared/ledger/read/lookups.ts';
import { countFacets } from '#shared/ledger/search/count-facets.ts';
import { indexEnds, startIndexing } from '#shared/ledger/search/index-ends.ts';
import { listTasks } from '#shared/ledger/search/list-tasks.ts';
import type { TaskFilter } from '#shared/ledger/search/task-filter.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { aTask, TENANT, TestLedger } from '../../shared/ledger/support/test-ledger.ts';
import { progress, readOptions } from '../bench-options.ts';
import { inFlight } from '../in-flight.ts';
import { print } from '../print.ts';
import { percentile } from '../statistics.ts';

/** Tasks that ended, and rounds of each call. */
const { tasks: ENDED, rounds: ROUNDS } = readOptions({ tasks: 1_000_000, rounds: 30 });
const WAITING = 10_000;
const TOGETHER = 200;
const DAY_MS = 86_400_000;
const AGENTS = 20;
const SOURCES = ['api', 'chat', 'webhook', 'schedule', 'delegation', 'proactive'] as const;
const HOUR_AGO = Date.now() - 3_600_000;

const test = await TestLedger.open();
const { ledger, redis } = test;
const keys = test.keys.tenant(TENANT);

/** Of a thousand tasks, how many end so. */
function statusOf(n: number): TaskStatus {
  const part = (n * 7919) % 1000;
  if (part < 940) return 'completed';
  if (part < 975) return 'permanently_failed';
  return part < 985 ? 'cancelled' : 'skipped';
}

interface Columns {
  bodies: string[];
  states: string[];
  outputs: string[];
  index: string[];
}

/** Adds an ended task as the scripts leave it, but for the lookup of its end, as an older release did. */
function addEnded(columns: Columns, n: number): void {
  const createdAt = Date.now() - 6 * DAY_MS + Math.floor((n / ENDED) * 6 * DAY_MS);
  const status = statusOf(n);
  const source = SOURCES[(n * 31) % SOURCES.length] ?? 'api';
  const task = aTask({
    id: ulid(createdAt),
    agent: `agent-${(n * n) % AGENTS}`,
    source,
    input: `Please answer letter ${n} of customer ${n % 5000}: ${'where is my parcel? '.repeat(8)}`,
    session: source === 'chat' ? `session-${n % 50_000}` : null,
    scheduleId: source === 'schedule' ? `schedule-${n % 200}` : null,
    metadata: n % 5 === 0 ? { customer: n % 5000 } : null,
  });
  const first = firstState(task);
  const times = `${createdAt} ${createdAt} ${createdAt + 100} worker-${n % 8}`;
  const full = {
    ...first,
    status,
    createdAt,
    completedAt: createdAt + 2000,
    attempt: 1,
    token: 1,
    spent: 1,
    ticket: 1,
    log: `pending@${createdAt};queued@${createdAt};running@${createdAt + 100};${status}@${createdAt + 2000}`,
    worker: `worker-${n % 8}`,
    outcome: { kind: status === 'permanently_failed' ? 'ran' : status },
    ...(status === 'permanently_failed' ? { error: { code: `ERROR_${n % 12}`, message: 'It did not work', retryable: false } } : {}),
  };
  columns.bodies.push(task.body.id, bodyText(task, first));
  columns.states.push(task.body.id, status === 'completed' ? `c ${times} ${createdAt + 2000} -` : JSON.stringify(full));
  if (status === 'completed') columns.outputs.push(task.body.id, `Your parcel ${n} is on its way.`);
  const lookups = [...lookupsOf(task.body), `status=${status}`];
  for (const lookup of lookups) columns.index.push('0', `${lookup}/${task.body.id}`);
}

async function fill(): Promise<void> {
  for (let from = 0; from < ENDED; from += TOGETHER) {
    const columns: Columns = { bodies: [], states: [], outputs: [], index: [] };
    for (let n = from; n < Math.min(ENDED, from + TOGETHER); n += 1) addEnded(columns, n);
    await Promise.all([redis.hset(keys.bodies, ...columns.bodies), redis.hset(keys.states, ...columns.states)]);
    await Promise.all([redis.hset(keys.outputs, ...columns.outputs), redis.zadd(keys.index, ...columns.index)]);
    if (from % 100_000 === 0) progress(`${from} tasks`);
  }
}

const memory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1] ?? 0);

/** Adds the lookups of the ends, as the chore does. */
async function index(): Promise<void> {
  const before = await memory();
  const startedAt = performance.now();
  let cursor = await startIndexing(ledger, TENANT);
  while (cursor !== null) cursor = await indexEnds(ledger, TENANT, cursor);
  const seconds = (performance.now() - startedAt) / 1000;
  const bytes = ((await memory()) - before) / ENDED;
  print(`The lookups of the ends take ${bytes.toFixed(0)} bytes a task; they were added in ${seconds.toFixed(0)} s.`);
  print(`All records and lookups take ${((await memory()) / ENDED).toFixed(0)} bytes a task.`);
}

/** Microseconds that Redis was busy since the last call of `CONFIG RESETSTAT`. */
async function busyMicros(): Promise<number> {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/^cmdstat_(?!info|config)\S+:calls=\d+,usec=(\d+)/gm)].reduce((total, [, spent]) => total + Number(spent), 0);
}

const LISTS: [name: string, filter: TaskFilter][] = [
  ['no filter', { skipped: false }],
  ['one agent', { agent: 'agent-5', skipped: false }],
  ['one status', { status: 'permanently_failed' }],
  ['agent and status', { agent: 'agent-9', status: 'permanently_failed' }],
  ['agent, status and source', { agent: 'agent-9', status: 'completed', source: 'webhook' }],
  ['an agent and a source that never meet', { agent: 'agent-5', source: 'api' }],
  ['error code', { code: 'ERROR_7' }],
  ['error code and agent', { code: 'ERROR_7', agent: 'agent-9' }],
  ['session', { session: 'session-7' }],
  ['schedule and status', { schedule: 'schedule-3', status: 'permanently_failed' }],
  ['waiting tasks of an agent', { status: ['pending', 'queued'], agent: 'waiting-3' }],
  ['last hour', { since: HOUR_AGO, skipped: false }],
  ['a day of failures', { since: HOUR_AGO - 3 * DAY_MS, until: HOUR_AGO - 2 * DAY_MS, status: 'permanently_failed' }],
  ['text that many have', { q: 'customer 4711' }],
  ['text that none has', { q: 'no such text' }],
  ['metadata', { metadata: [{ key: 'customer', value: '4710' }] }],
  ['metadata and status', { metadata: [{ key: 'customer', value: '4710' }], status: 'permanently_failed' }],
];

async function measure(name: string, work: () => Promise<string>): Promise<void> {
  const times: number[] = [];
  let answer = await work();
  await redis.config('RESETSTAT');
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    answer = await work();
    times.push(performance.now() - startedAt);
  }
  const busy = (await busyMicros()) / ROUNDS / 1000;
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)].map((ms) => ms.toFixed(1).padStart(8));
  print(`| ${name.padEnd(44)} | ${p50} | ${p99} | ${busy.toFixed(1).padStart(8)} | ${answer} |`);
}

try {
  print('\n== What the console asks for\n');
  print(`${ENDED} ended and ${WAITING} waiting tasks of one tenant; each call ${ROUNDS} times, alone, in this process.`);
  await fill();
  await index();
  await inFlight(WAITING, 200, (n) => acceptNewTask(ledger, aTask({ agent: `waiting-${n % 20}` })));
  print('\n| pages of 50 tasks                            |  p50, ms |  p99, ms | Redis, ms | found |\n| --- | --- | --- | --- | --- |');
  for (const [name, filter] of LISTS) {
    await measure(name, async () => {
      const { items, search } = await listTasks(ledger, TENANT, filter, { limit: 50 });
      const back = search?.last
        ? `, of ${search.scanned} checked, ${((Date.now() - decodeTime(search.last)) / 3_600_000).toFixed(1)} h back`
        : '';
      return `${items.length}${back}`;
    });
  }
  print('\n| facets                                       |  p50, ms |  p99, ms | Redis, ms | total |\n| --- | --- | --- | --- | --- |');
  for (const [name, filter] of LISTS) {
    await measure(name, async () => {
      const { total, isLowerBound } = await countFacets(ledger, TENANT, filter);
      return `${isLowerBound ? 'at least ' : ''}${total}`;
    });
  }
} finally {
  await test.close();
}
