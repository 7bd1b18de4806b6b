import { SOURCES } from '#shared/config/sources.ts';
import { idAt } from '#shared/ledger/read/id-at.ts';
import type { Keys } from '#shared/redis/keys.ts';
import type { Redis } from 'ioredis';
import { progress } from '../../bench-options.ts';
import { type RecordValues, type SampleEnd, type SampleRecords, fillTemplate, readSamples } from './sample-records.ts';

const DAY_MS = 86_400_000;
const DAYS = 6;
/** Tasks that one command writes, and such commands that are under way. */
const TOGETHER = 500;
const IN_FLIGHT = 4;
const AGENTS = 20;
const ID_CHARACTERS = 16;
const NEWEST = Date.now();

export const TENANT = 'default';

interface FillPorts {
  readonly redis: Redis;
  readonly keys: Keys;
}

interface Columns {
  bodies: string[];
  states: string[];
  outputs: string[];
  index: string[];
}

/** Writes ended tasks of the last six days as copies of real ones. Resolves to the seconds that it took. */
export async function fillTasks(ports: FillPorts, count: number): Promise<number> {
  const samples = await readSamples();
  const startedAt = performance.now();
  const writing: Promise<unknown>[] = [];
  for (let from = 0; from < count; from += TOGETHER) {
    const columns: Columns = { bodies: [], states: [], outputs: [], index: [] };
    for (let n = from; n < Math.min(count, from + TOGETHER); n += 1) addCopy(columns, samples, n, count);
    writing.push(writeColumns(ports, columns));
    if (writing.length >= IN_FLIGHT) await writing.shift();
    if (from % 100_000 === 0) progress(`${from} tasks`);
  }
  await Promise.all(writing);
  return (performance.now() - startedAt) / 1000;
}

async function writeColumns({ redis, keys }: FillPorts, { bodies, states, outputs, index }: Columns): Promise<void> {
  const own = keys.tenant(TENANT);
  await Promise.all([
    redis.hset(own.bodies, ...bodies),
    redis.hset(own.states, ...states),
    redis.hset(own.outputs, ...outputs),
    redis.zadd(own.index, ...index),
  ]);
}

function addCopy(columns: Columns, samples: ReadonlyMap<string, SampleRecords>, n: number, count: number): void {
  const source = SOURCES[(n * 31) % SOURCES.length] ?? 'api';
  const sample = samples.get(`${source} ${endOf(n)}`);
  if (sample === undefined) throw new Error(`There is no sample of ${source}`);
  const values = valuesOf(n, count);
  columns.bodies.push(values.id, fillTemplate(sample.body, values));
  columns.states.push(values.id, fillTemplate(sample.state, values));
  if (sample.output) columns.outputs.push(values.id, fillTemplate(sample.output, values));
  for (const lookup of sample.lookups) columns.index.push('0', fillTemplate(lookup, values));
}

/** Of a thousand tasks, how many end so. */
function endOf(n: number): SampleEnd {
  const part = (n * 7919) % 1000;
  if (part < 940) return 'completed';
  if (part < 975) return 'permanently_failed';
  return part < 985 ? 'cancelled' : 'skipped';
}

function valuesOf(n: number, count: number): RecordValues {
  const acceptedAt = NEWEST - DAYS * DAY_MS + Math.floor((n / count) * DAYS * DAY_MS);
  return {
    id: `${idAt(acceptedAt)}${String(n).padStart(ID_CHARACTERS, '0')}`,
    acceptedAt,
    agent: `agent-${(n * n) % AGENTS}`,
    input: `Please answer letter ${n} of customer ${n % 5000}: ${'where is my parcel? '.repeat(8)}`,
    output: `Your parcel ${n} is on its way.`,
    session: `session-${n % 50_000}`,
    schedule: `schedule-${n % 200}`,
    customer: `${n % 5000}`,
    code: `ERROR_${n % 12}`,
    worker: `worker-${n % 8}`,
  };
}
