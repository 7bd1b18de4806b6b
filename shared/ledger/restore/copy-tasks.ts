import { ARCHIVED } from '../archive/kept-parts.ts';
import { type ArchivePorts, withParts } from '../archive/read-archived.ts';
import { type Keys, pairs, type RedisClient, scanHash, scanSortedSet } from '../../redis/index.ts';
import { parseKnownState } from '../codec/state.ts';
import { parseBody } from '../codec/body.ts';

interface ReadPorts extends ArchivePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** A task with everything that it alone has, as the ledger keeps it, read in one step. Scores are those of its lane. */
export interface CopiedTask {
  readonly id: string;
  readonly body: string;
  readonly state: string;
  readonly output: string | null;
  readonly result: string | null;
  readonly usage: string | null;
  readonly attempts: [field: string, value: string][];
  readonly journal: [field: string, value: string][];
  readonly files: [field: string, value: string][];
  readonly held: string | null;
  readonly place: string | null;
}

/** Tasks without a lane that are read in one step. */
const TOGETHER = 50;
/** A lane gets tasks while it is read: they are read with it. */
const MAX_TRIES = 10;

/**
 * All tasks of a tenant but for those in `known`, in pages: first those that have not ended, a lane at a time so that its order is that of one
 * moment, then those that have. A task that is accepted meanwhile may be missing. Those in the archive are read from there.
 * Errors: `unavailable.files`, `record.unreadable`.
 */
export async function* copyTasks(ports: ReadPorts, tenant: string, known: Set<string>): AsyncGenerator<CopiedTask[]> {
  for await (const page of readLive(ports, tenant, known)) {
    for (const { id } of page) known.add(id);
    yield page;
  }
  for await (const page of scanHash(ports.redis, ports.keys.tenant(tenant).states)) {
    const ids = page.flatMap(([id, state]) => (known.has(id) || laneOf(state, null) !== null ? [] : [id]));
    // With a lane it was accepted behind the others of it, or has ended.
    const ended = page.flatMap(([id, state]) => (known.has(id) || ids.includes(id) || !hasEnded(state) ? [] : [id]));
    for (const some of inPages([...ids, ...ended])) yield await withArchived(ports, tenant, await readTogether(ports, tenant, some));
  }
}

async function* readLive(ports: ReadPorts, tenant: string, known: Set<string>): AsyncGenerator<CopiedTask[]> {
  const { live, states, bodies } = ports.keys.tenant(tenant);
  const lanes = new Map<string, string[]>();
  const free: string[] = [];
  const seen = new Set<string>();
  for await (const page of scanSortedSet(ports.redis, live)) {
    const ids = [...new Set(page.map(([member]) => /[^/.]+$/.exec(member)?.[0] ?? ''))].filter((id) => !known.has(id) && !seen.has(id));
    if (ids.length === 0) continue;
    const [found, texts] = await Promise.all([ports.redis.hmget(states, ...ids), ports.redis.hmget(bodies, ...ids)]);
    for (const [position, id] of ids.entries()) {
      seen.add(id);
      const lane = laneOf(found[position] ?? null, texts[position] ?? null);
      if (lane === null) free.push(id);
      else lanes.set(lane, [...(lanes.get(lane) ?? []), id]);
    }
  }
  for (const [lane, ids] of lanes) yield await readLane(ports, tenant, lane, ids);
  for (const ids of inPages(free)) yield await readTogether(ports, tenant, ids);
}

/** A lane with all of its tasks, as of one moment. */
async function readLane(ports: ReadPorts, tenant: string, lane: string, first: readonly string[]): Promise<CopiedTask[]> {
  let ids = [...first];
  for (let tries = 0; ; tries += 1) {
    const { tasks, inLane } = await readStep(ports, tenant, ids, lane);
    const missing = inLane.filter((id) => !ids.includes(id));
    if (missing.length === 0 || tries >= MAX_TRIES) return tasks;
    ids = ids.concat(missing);
  }
}

async function readTogether(ports: ReadPorts, tenant: string, ids: readonly string[]): Promise<CopiedTask[]> {
  return ids.length === 0 ? [] : (await readStep(ports, tenant, ids, null)).tasks;
}

/** One after the other: a page of parts may be large. */
async function withArchived(ports: ReadPorts, tenant: string, tasks: readonly CopiedTask[]): Promise<CopiedTask[]> {
  const found: CopiedTask[] = [];
  for (const task of tasks) {
    const complete = parseBody(task.body).archived === undefined ? task : await readArchived(ports, tenant, task.id);
    if (complete !== null) found.push(complete);
  }
  return found;
}

async function readArchived(ports: ReadPorts, tenant: string, id: string): Promise<CopiedTask | null> {
  return await withParts<CopiedTask | null>(
    ports,
    { tenant, id },
    {
      read: async () => (await readTogether(ports, tenant, [id]))[0] ?? null,
      placeOf: (task) => (task === null ? undefined : parseBody(task.body).archived),
      complete: (task, { body, output, result, journal }) =>
        task && { ...task, body, output, result, journal: mergedFields(journal, task.journal) },
    },
  );
}

/** What was written to a journal since the archive took it counts. */
function mergedFields(archived: CopiedTask['journal'], since: CopiedTask['journal']): [field: string, value: string][] {
  const fields = new Map([...archived, ...since]);
  fields.delete(ARCHIVED);
  return [...fields];
}

interface Step {
  tasks: CopiedTask[];
  /** All that hold the lane, or wait for it. */
  inLane: string[];
}

const NONE: ReadonlyMap<string, string> = new Map();

async function readStep({ redis, keys }: ReadPorts, tenant: string, ids: readonly string[], lane: string | null): Promise<Step> {
  const own = keys.tenant(tenant);
  const before = await redis.hmget(own.states, ...ids);
  const fields = ids.map((id, position) => tokensOf(before[position] ?? null).map((token) => `${id}:${token}`));
  const reading = redis.multi();
  for (const hash of [own.states, own.bodies, own.outputs, own.results]) reading.hmget(hash, ...ids);
  for (const [position, id] of ids.entries()) {
    reading.hgetall(own.journal(id)).hgetall(own.taskFiles(id));
    for (const hash of [own.attempts, own.runningUsage]) reading.hmget(hash, ...(fields[position] ?? []));
  }
  for (const set of lane === null ? [] : [own.laneHeld(lane), own.laneWait(lane)]) reading.zrange(set, '0', '-1', 'WITHSCORES');
  const values = valuesOf(await reading.exec());
  const [held = NONE, places = NONE] = lane === null ? [] : values.slice(-2).map(scoresOf);
  const placed = (id: string): Pick<ReadTask, 'held' | 'place'> => ({ held: held.get(id) ?? null, place: places.get(id) ?? null });
  const tasks = ids.flatMap((id, at) => copyOf({ id, at, values, fields: fields[at] ?? [], ...placed(id) }));
  return { tasks, inLane: [...held.keys(), ...places.keys()] };
}

function scoresOf(flat: unknown): Map<string, string> {
  return new Map(pairs(flat as string[]));
}

interface ReadTask {
  id: string;
  at: number;
  /** Replies of the step: of all tasks first, then four of each. */
  values: readonly unknown[];
  fields: readonly string[];
  held: string | null;
  place: string | null;
}

/** None of a task that is gone. */
function copyOf({ id, at, values, fields, held, place }: ReadTask): CopiedTask[] {
  const [state, body, output, result] = (values.slice(0, 4) as Texts[]).map((texts) => texts[at]);
  if (!body || !state) return [];
  const [journal, files, attempts, usage] = values.slice(4 + at * 4, 8 + at * 4) as [Hash, Hash, Texts, Texts];
  return [
    {
      id,
      body,
      state,
      output: output ?? null,
      result: result ?? null,
      usage: usage.findLast((text) => text !== null) ?? null,
      attempts: fields.flatMap((field, token) => pairOf(field, attempts[token])),
      journal: entriesOf(journal),
      files: entriesOf(files),
      held,
      place,
    },
  ];
}

function valuesOf(replies: [error: Error | null, value: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}

function pairOf(field: string, value: string | null | undefined): [string, string][] {
  return value === null || value === undefined ? [] : [[field, value]];
}

type Hash = Record<string, string> | string[];
type Texts = (string | null)[];

/** A reply within a transaction may come flat. */
function entriesOf(hash: Hash): [string, string][] {
  return Array.isArray(hash) ? pairs(hash) : Object.entries(hash);
}

/** An attempt may begin before the task is read. */
function tokensOf(state: string | null): number[] {
  const token = state === null ? 0 : parseKnownState(state).token;
  return Array.from({ length: token + 2 }, (_, number) => number);
}

function hasEnded(state: string): boolean {
  return parseKnownState(state).completedAt !== undefined;
}

function laneOf(state: string | null, body: string | null): string | null {
  if (state === null) return null;
  const known = parseKnownState(state);
  if (known.completedAt !== undefined) return null;
  return known.lane ?? (body === null ? null : (parseBody(body).first.lane ?? null));
}

function inPages(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / TOGETHER) }, (_, page) => ids.slice(page * TOGETHER, (page + 1) * TOGETHER));
}
