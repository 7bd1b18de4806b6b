import { z } from 'zod';
import { MusterError } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import { wait } from '../time/index.ts';
import type { RedisClient } from './connect-redis.ts';
import type { Keys } from './keys.ts';
import { readRecords } from './read-records.ts';
import { redisNow } from './replies.ts';

interface InstallationPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

interface AssertingPorts extends InstallationPorts {
  readonly log: Log;
}

/** Raised when what is in Redis is kept in another form, so that older and newer code cannot both write there. */
export const DATA_FORM = 3;
/**
 * Raised when data of the same form has something that processes of a release before leave alone. They may run beside it. 1: suspended runs, which
 * 0.2.0 (level 0) does not know.
 */
export const DATA_LEVEL = 1;
/** The form of release 0.1. This code reads it, and a process of 0.1 cannot read what this one writes beside it. */
export const FORM_BEFORE = 2;

/** A process of 0.1 that was killed is taken for dead then: it has missed three beats. */
const SILENT_MS = 10_500;
const LOOK_AGAIN_MS = 500;
/** Processes that are named in the refusal. */
const MAX_NAMED = 5;

/**
 * Records, in a Redis without an installation, how this code keeps its data, and compares that in any other. With another number of shards
 * it would look for every tenant's work in the wrong place. Takes over the data of release 0.1 once no process of it runs; waits, at most
 * `waitMs`, for those that were killed. Throws `config.invalid` when the data there was written otherwise, or processes of 0.1 run on.
 */
export async function assertInstallation(ports: AssertingPorts, waitMs = SILENT_MS): Promise<void> {
  const { redis, keys, log } = ports;
  await redis.set(keys.fleet.installation, installationText(keys), 'NX');
  let problem = await installationProblem(ports);
  for (let waitedMs = 0; problem !== null && waitedMs <= waitMs && (await isOfFormBefore(ports)); waitedMs += LOOK_AGAIN_MS) {
    if (waitedMs === 0) log.info({ event: 'installation.awaited', reason: problem }, 'waiting for the end of processes of Muster 0.1');
    await wait(LOOK_AGAIN_MS);
    problem = await installationProblem(ports);
  }
  if (problem !== null) throw new MusterError('config.invalid', problem, { details: { problems: [problem] } });
  if (await isOfFormBefore(ports)) await redis.set(keys.fleet.installation, installationText(keys));
}

/** Why this code would not find what is in that Redis, with what to do about it, or null when it would. Changes nothing. */
export async function installationProblem(ports: InstallationPorts): Promise<string | null> {
  const { keys } = ports;
  const found = await ports.redis.get(keys.fleet.installation);
  if (found === null || found === installationText(keys)) return null;
  if (found === installationText(keys, FORM_BEFORE)) return await formerProblem(ports);
  const [form = 0, shards = 0] = found.split(' ').map(Number);
  if (form === DATA_FORM || form === FORM_BEFORE)
    return `SHARDS is ${keys.shards}, and what is in this Redis was written with SHARDS=${shards}: nothing of it would be found. Set SHARDS=${shards}, or use an empty Redis.`;
  const age = form > DATA_FORM ? 'a newer' : 'an older';
  return `What is in this Redis was written by ${age} Muster (form ${form}; this one reads form ${DATA_FORM}). Run that one, or use an empty Redis.`;
}

/** The form of the data that is in that Redis; null where none is there yet. */
export async function readDataForm({ redis, keys }: InstallationPorts): Promise<number | null> {
  const found = await redis.get(keys.fleet.installation);
  return found === null ? null : Number.parseInt(found, 10);
}

/** How code of a form keeps its data, as an installation records it. */
export function installationText(keys: Keys, form = DATA_FORM): string {
  return `${form} ${keys.shards}`;
}

async function isOfFormBefore({ redis, keys }: InstallationPorts): Promise<boolean> {
  return (await redis.get(keys.fleet.installation)) === installationText(keys, FORM_BEFORE);
}

/** Why the data of 0.1 cannot be taken over now, or null. */
async function formerProblem({ redis, keys }: InstallationPorts): Promise<string | null> {
  const since = (await redisNow(redis)) - SILENT_MS;
  const found = await redis.zrevrangebyscore(keys.fleet.processes, '+inf', since);
  const listed = found.flatMap((text) => formerProcess(text) ?? []);
  const former = listed.length > 0 ? listed : await listFormerWorkers({ redis, keys }, since);
  if (former.length === 0) return null;
  const names = [...former.slice(0, MAX_NAMED), ...(former.length > MAX_NAMED ? [`${former.length - MAX_NAMED} more`] : [])].join(', ');
  return `What is in this Redis was written by Muster 0.1, and processes of it run: ${names}. Stop all of them, then start this one: it takes the data over.`;
}

/** The workers that beat and say nothing of a form: the builds of 0.1 before its last one list no processes. */
async function listFormerWorkers({ redis, keys }: InstallationPorts, since: number): Promise<string[]> {
  const workers = await redis.zrevrangebyscore(keys.fleet.workers, '+inf', since);
  const reports = workers.length === 0 ? [] : await redis.hmget(keys.fleet.workerNotes, ...workers);
  const stored = workers.map((worker, at) => [worker, reports[at] ?? ''] as const);
  const read = readRecords(stored, (text, worker) => ({ worker, ...reportSchema.parse(JSON.parse(text)) }));
  return read.items.filter(({ form }) => form === undefined).map(({ worker }) => worker);
}

const reportSchema = z.object({ form: z.number().optional() });
const processSchema = z.object({ id: z.string(), release: z.string().optional(), form: z.number().optional() });

/**
 * The processes that write another form into data which this code reads and has taken over: of 0.1, say, which stood still meanwhile. Empty
 * while it has not been taken over: then `installationProblem` names them.
 */
export async function readForeignProcesses({ redis, keys }: InstallationPorts): Promise<string[]> {
  if ((await redis.get(keys.fleet.installation)) !== installationText(keys)) return [];
  const found = await redis.zrevrangebyscore(keys.fleet.processes, '+inf', (await redisNow(redis)) - SILENT_MS);
  return found.flatMap((text) => foreignProcess(text) ?? []);
}

/** The name of a process by its record, with its release; null for one that keeps its data as this one does. */
function foreignProcess(text: string): string | null {
  const process = readRecords([['', text]], () => processSchema.parse(JSON.parse(text))).items[0];
  return process && process.form !== DATA_FORM ? `${process.id} (${process.release ?? 'release unknown'})` : null;
}

/** The name of a process of 0.1 by its record in the fleet; null for another. */
function formerProcess(text: string): string | null {
  const process = readRecords([['', text]], () => processSchema.parse(JSON.parse(text))).items[0];
  return process && process.form === undefined ? process.id : null;
}
