import { MusterError } from '../../errors/index.ts';
import { type Keys, readRecord, readRecords, type RedisClient, scriptJson } from '../../redis/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import { type Erasure, erasureSchema, NOTHING_REMOVED } from './erasure.ts';

interface StorePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** What is to be erased of a tenant, and who asks for it. */
export type ErasureRequest = Pick<Erasure, 'tenant' | 'kind' | 'by' | 'withSignIn'> & { of: string };

/** Records of a tenant; of those that have ended the oldest go first. */
const MAX_KEPT = 1000;
/** How long it is shown that something was erased, without whose it was. */
const KEEP_MS = 30 * 86_400_000;
const FULL_RETRY_MS = 60_000;

/** ErasureStore is responsible for the records of erasures and for when each is due, so that one goes on whichever process dies. */
export class ErasureStore {
  readonly #ports: StorePorts;

  constructor(ports: StorePorts) {
    this.#ports = ports;
  }

  /** Makes an erasure that is due at once, or returns the one of the same that is under way. Errors: `limit.actions`, `tenant.ended`. */
  async create(request: ErasureRequest, now = Date.now()): Promise<Erasure> {
    const { tenant, kind, of } = request;
    const all = await this.#list(tenant);
    const known = all.find((each) => each.completedAt === null && each.kind === kind && each.of === of);
    if (known !== undefined) return known;
    await this.#makeRoom(tenant, all);
    const erasure: Erasure = {
      ...request,
      // Tasks that are accepted from now on have larger ids, and stay.
      id: newTaskId(),
      phase: 'collect',
      cursor: null,
      stopping: 0,
      removed: NOTHING_REMOVED,
      createdAt: now,
      completedAt: null,
    };
    // First, so that none is stored that nobody looks at.
    await writeOfTenant(this.#ports, { tenant, key: this.#due(tenant), command: ['ZADD', now, `${tenant}/${erasure.id}`] });
    await writeOfTenant(this.#ports, {
      tenant,
      key: this.#ports.keys.tenant(tenant).erasures,
      command: ['HSET', erasure.id, scriptJson(erasure)],
    });
    return erasure;
  }

  async find(tenant: string, id: string): Promise<Erasure | null> {
    const stored = await this.#ports.redis.hget(this.#ports.keys.tenant(tenant).erasures, id);
    return stored === null ? null : readRecord(id, stored, parseErasure);
  }

  /** What is due in a shard, longest first. */
  async listDue(shard: number, now: number, max: number): Promise<{ tenant: string; id: string }[]> {
    const { redis, keys } = this.#ports;
    const members = await redis.zrangebyscore(keys.shard(shard).erasuresDue, '-inf', now, 'LIMIT', 0, max);
    return members.map((member) => {
      const [tenant = '', id = ''] = member.split('/');
      return { tenant, id };
    });
  }

  /** Writes how far an erasure is; it is looked at again in `afterMs`. */
  async save(erasure: Erasure, afterMs: number, now: number): Promise<void> {
    const { tenant, id } = erasure;
    const key = this.#ports.keys.tenant(tenant).erasures;
    await writeOfTenant(this.#ports, { tenant, key, command: ['HSET', id, scriptJson(erasure)] });
    await this.#ports.redis.zadd(this.#due(tenant), now + afterMs, `${tenant}/${id}`);
  }

  /** Writes that an erasure has ended, and forgets whose it was. */
  async end(erasure: Erasure, now: number): Promise<void> {
    const ended: Erasure = { ...erasure, of: null, phase: 'done', cursor: null, stopping: 0, completedAt: now };
    await this.save(ended, KEEP_MS, now);
    await this.#ports.redis.del(this.#ports.keys.tenant(erasure.tenant).erasing(erasure.id));
  }

  async remove(tenant: string, id: string): Promise<void> {
    await this.#ports.redis.hdel(this.#ports.keys.tenant(tenant).erasures, id);
    await this.#ports.redis.zrem(this.#due(tenant), `${tenant}/${id}`);
  }

  async #list(tenant: string): Promise<Erasure[]> {
    const stored = await this.#ports.redis.hgetall(this.#ports.keys.tenant(tenant).erasures);
    return readRecords(Object.entries(stored), parseErasure).items;
  }

  /** Errors: `limit.actions`. */
  async #makeRoom(tenant: string, all: readonly Erasure[]): Promise<void> {
    if (all.length < MAX_KEPT) return;
    const ended = all.filter(({ completedAt }) => completedAt !== null).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const [oldest] = ended;
    if (oldest !== undefined) return await this.remove(tenant, oldest.id);
    throw new MusterError('limit.actions', `A tenant has at most ${MAX_KEPT} erasures under way`, { retryAfterMs: FULL_RETRY_MS });
  }

  #due(tenant: string): string {
    const { keys } = this.#ports;
    return keys.shard(keys.shardOf(tenant)).erasuresDue;
  }
}

function parseErasure(text: string): Erasure {
  return erasureSchema.parse(JSON.parse(text));
}
