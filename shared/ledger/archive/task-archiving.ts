import pMap from 'p-map';
import { MusterError } from '../../errors/index.ts';
import type { ArchiveSettings } from '../../config/index.ts';
import type { ObjectArchive } from '../../files/index.ts';
import type { Log } from '../../log/index.ts';
import { isRedisUnavailable, redisNow } from '../../redis/index.ts';
import { isTerminal, TASK_STATUSES } from '../../tasks/index.ts';
import type { Tenant } from '../../tenants/index.ts';
import type { Ledger } from '../ledger.ts';
import { idAt } from '../read/id-at.ts';
import { tenantsWithTasks } from '../tenants/depth.ts';
import { archiveTask } from './archive-task.ts';
import { removeUnusedObjects } from './remove-objects.ts';
import { MAX_PART_BYTES } from './task-parts.ts';

interface ArchivingPorts {
  readonly ledger: Ledger;
  readonly tenants: { list(): Tenant[] };
  readonly log: Log;
}

/** Tasks looked at in one step, and in one round. */
const STEP = 500;
const MAX_PER_ROUND = 20_000;
/** Objects written at once. */
const CONCURRENCY = 4;
/** In every so many rounds tasks are looked at from the first on: some end long after others that were accepted later. */
const AGAIN = 20;
const ENDS = TASK_STATUSES.filter(isTerminal).map((status) => `status=${status}/`);

/** What is left of the bounds of a round. */
interface Round {
  archive: ObjectArchive;
  settings: ArchiveSettings;
  signal: AbortSignal;
  looks: number;
  tasks: number;
  bytes: number;
  archived: number;
}

/**
 * TaskArchiving is responsible for rounds of archiving: of tasks that ended longer ago than `archive.afterMs`, a tenant at a time in the order in which they
 * were accepted, and from the first again once in a while. Where it was is known to this process alone; another starts with the first.
 */
export class TaskArchiving {
  readonly #ports: ArchivingPorts;
  /** The last task of a tenant that was looked at. */
  readonly #cursors = new Map<string, string>();
  /** Tenants whose last ended task was looked at. */
  readonly #done = new Set<string>();
  #rounds = 0;

  constructor(ports: ArchivingPorts) {
    this.#ports = ports;
  }

  /** Removes what no task has any more, and archives tasks within the bounds of a round. Errors: `unavailable.files`. */
  async run(signal: AbortSignal): Promise<void> {
    const { ledger, tenants, log } = this.#ports;
    const { archive, settings } = ledger;
    if (archive === undefined || settings.archive === undefined) return;
    const removed = await removeUnusedObjects(ledger, archive);
    const { maxTasksPerRound: tasks, maxBytesPerRound: bytes } = settings.archive;
    const round: Round = { archive, settings: settings.archive, signal, looks: MAX_PER_ROUND, tasks, bytes, archived: 0 };
    const busy = [...(await tenantsWithTasks(ledger, tenants.list(), 'index')).keys()];
    this.#begin(busy);
    for (const tenant of this.#inTurn(busy)) if (isOpen(round)) await this.#archive(tenant, round);
    if (removed + round.archived > 0) log.info({ event: 'tasks.archived', tasks: round.archived, removed }, 'the archive took what ended');
  }

  #begin(busy: readonly string[]): void {
    this.#rounds += 1;
    const isAgain = this.#rounds % AGAIN === 0;
    const over = [...this.#cursors.keys()].filter((tenant) => !busy.includes(tenant) || (isAgain && this.#done.has(tenant)));
    for (const tenant of over) {
      this.#cursors.delete(tenant);
      this.#done.delete(tenant);
    }
  }

  /** Those that the last round left go on first. */
  #inTurn(tenants: readonly string[]): string[] {
    return tenants.toSorted((one, other) => Number(this.#done.has(one)) - Number(this.#done.has(other)));
  }

  async #archive(tenant: string, round: Round): Promise<void> {
    const { ledger } = this.#ports;
    this.#done.delete(tenant);
    const before = (await redisNow(ledger.redis)) - round.settings.afterMs;
    while (isOpen(round)) {
      const ids = await endedAfter(ledger, tenant, this.#cursors.get(tenant) ?? '', before);
      round.looks -= STEP;
      const sizes = await findArchivable(ledger, tenant, ids, before);
      const chosen = ids.filter((_, at) => (sizes[at] ?? 0) >= round.settings.minBytes && (sizes[at] ?? 0) <= MAX_PART_BYTES);
      const some = within(chosen, new Map(ids.map((id, at) => [id, sizes[at] ?? 0])), round);
      await pMap(some, (id) => this.#archiveOne(tenant, id, round), { concurrency: CONCURRENCY });
      const isAll = some.length === chosen.length;
      const last = isAll ? ids.at(-1) : some.at(-1);
      if (last !== undefined) this.#cursors.set(tenant, last);
      if (isAll && ids.length < STEP) {
        this.#done.add(tenant);
        return;
      }
    }
  }

  /** One bad task must not keep others in Redis. */
  async #archiveOne(tenant: string, id: string, round: Round): Promise<void> {
    const { ledger, log } = this.#ports;
    try {
      if ((await archiveTask(ledger, round.archive, { tenant, id })) === 'archived') round.archived += 1;
    } catch (error) {
      if (isRedisUnavailable(error) || (error instanceof MusterError && error.code === 'unavailable.files')) throw error;
      log.warn({ err: error, task: id, tenant }, 'a task could not be archived, and stays in Redis');
    }
  }
}

function isOpen({ signal, looks, tasks, bytes }: Round): boolean {
  return !signal.aborted && looks > 0 && tasks > 0 && bytes > 0;
}

/** The first of the tasks that the round has room for; it takes that room. */
function within(ids: readonly string[], sizes: ReadonlyMap<string, number>, round: Round): string[] {
  const some: string[] = [];
  for (const id of ids) {
    if (round.tasks <= 0 || round.bytes <= 0) break;
    round.tasks -= 1;
    round.bytes -= sizes.get(id) ?? 0;
    some.push(id);
  }
  return some;
}

/** The next ended tasks of a tenant that were accepted before a time, the first accepted first. */
async function endedAfter({ redis, keys }: Ledger, tenant: string, after: string, before: number): Promise<string[]> {
  const { index } = keys.tenant(tenant);
  const pages = await Promise.all(
    ENDS.map(async (prefix) => {
      const members = await redis.zrangebylex(index, `(${prefix}${after}`, `(${prefix}${idAt(before)}`, 'LIMIT', 0, STEP);
      return members.map((member) => member.slice(prefix.length));
    }),
  );
  return pages.flat().toSorted().slice(0, STEP);
}

/** About the bytes of each task's parts; 0 for one that is not to be archived. */
async function findArchivable(ledger: Ledger, tenant: string, ids: readonly string[], before: number): Promise<number[]> {
  if (ids.length === 0) return [];
  const own = ledger.keys.tenant(tenant);
  const keys = [own.states, own.bodies, own.outputs, own.results, ...ids.map((id) => own.journal(id))];
  return (await ledger.run('find-archivable', keys, [before, ...ids])) as number[];
}
