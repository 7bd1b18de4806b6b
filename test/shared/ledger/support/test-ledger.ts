import { tenantLimitsSchema, type TenantLimits } from '#shared/config/settings/limits-settings.ts';
import type { SourceClass, TaskQueue } from '#shared/config/sources.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import type { AcceptAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimForSlots } from '#shared/ledger/claim/claim-for-slots.ts';
import { claimTask, type ClaimAnswer } from '#shared/ledger/claim/claim-task.ts';
import { ABSENT_FIELDS } from '#shared/ledger/codec/body.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { createLedger, type Ledger } from '#shared/ledger/ledger.ts';
import type { IssuedTicket } from '#shared/ledger/grants/tickets.ts';
import type { NewTask } from '#shared/ledger/accept/new-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { TaskPlace } from '#shared/ledger/context.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { RunningSlots } from '#shared/queue/slots/running-slots.ts';
import { createKeys, type Keys } from '#shared/redis/keys.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import type { Task, TaskBody } from '#shared/tasks/task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { storedState } from './stored-states.ts';

export const TENANT = 'acme';
const SHARES = { high: 40, normal: 35, low: 15 };
/** Jobs that BullMQ has at most: more than any test has that is about something else. */
const LOOK_AHEAD = 10_000;
/** Slots of a worker that claims for them. */
const SLOTS = 100;

export interface TaskWish extends Partial<Omit<TaskBody, 'execution'>> {
  lane?: { name: string; limit: number; order?: number };
  sharedLanes?: { name: string; limit: number }[];
  priority?: number;
  queue?: TaskQueue;
  class?: string;
  slaLeadMs?: number;
  rateClass?: SourceClass;
  key?: string;
  digest?: string;
  maxAttempts?: number;
  timeoutMs?: number;
  mode?: NewTask['mode'];
  arrival?: NewTask['arrival'];
  takesInput?: boolean;
  yields?: boolean;
  skip?: string;
  parentWaits?: boolean;
  awaitedBy?: string | undefined;
}

const BODY: Omit<TaskBody, 'id' | 'session' | 'execution'> = {
  ...ABSENT_FIELDS,
  tenant: TENANT,
  agent: 'echo',
  source: 'api',
  input: 'hello',
  untrusted: false,
  traceparent: '',
};
const WISH = {
  priority: 5,
  queue: 'tasks' as TaskQueue,
  slaLeadMs: 0,
  rateClass: 'user' as const,
  digest: 'd',
  maxAttempts: 3,
  timeoutMs: 1000,
  mode: null,
  takesInput: false,
  yields: false,
  parentWaits: false,
};

/** A task as a producer would hand it in. */
export function aTask(wish: TaskWish = {}): NewTask {
  const { lane, priority, class: taskClass, rateClass, key, digest, maxAttempts, timeoutMs, ...rest } = { ...WISH, ...wish };
  const { mode, arrival, takesInput, yields, skip, sharedLanes, queue, slaLeadMs, awaitedBy, parentWaits, ...body } = rest;
  const execution = { timeoutMs, maxAttempts, retryDelayMs: 1000, retryBackoff: 'linear' } as const;
  return {
    body: { ...BODY, id: newTaskId(), session: lane?.name ?? null, execution, ...body },
    priority,
    queue,
    class: taskClass ?? (priority === 1 ? 'u0' : 'u1'),
    rateClass,
    lane: lane ?? null,
    sharedLanes: sharedLanes ?? [],
    idempotency: key === undefined ? null : { key, digest },
    mode,
    arrival,
    takesInput,
    yields,
    slaLeadMs,
    skip: skip ?? null,
    awaitedBy,
    parentWaits,
  };
}

/** A tenant's limits: those given, and no others. */
export function limitsOf(limits: Partial<TenantLimits>): TenantLimits {
  return tenantLimitsSchema.parse({ running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {}, ...limits });
}

/** A claimed attempt, as a worker would hold it. */
export interface Held extends TaskPlace {
  token: number;
  state: TaskState;
}

export const FAILURE = { code: 'NETWORK_ERROR', message: 'no route', retryable: true };
export const DONE: AttemptEnd = { kind: 'completed', output: 'done', result: null, usage: null };
export const retry = (delayMs: number | null): AttemptEnd => ({ kind: 'failed', error: FAILURE, delayMs, usage: null });

/** The status of a task since its attempt was settled, or `lost`. */
export const statusSince = (settled: Awaited<ReturnType<typeof settleAttempt>>): TaskStatus | 'lost' =>
  settled === 'lost' ? settled : settled.status;

/** A ledger on a Redis of its own, with a second connection to race it. */
export class TestLedger {
  readonly keys: Keys;
  readonly redis: RedisClient;
  readonly ledger: Ledger;
  /** The same ledger as another process sees it. */
  readonly rival: Ledger;
  limits: TenantLimits | null = null;
  /** Instead of `limits`. */
  readonly limitsByTenant = new Map<string, TenantLimits>();
  /** Milliseconds of a slot, by agent; others take a second. */
  readonly costs = new Map<string, number>();
  /** Tickets that scripts let out besides that of the task that they were for. */
  granted: IssuedTicket[] = [];
  readonly #server: RedisServer;
  readonly #rivalRedis: RedisClient;

  static async open(settings: SettingsInput = {}, shards = 1): Promise<TestLedger> {
    return new TestLedger(await startRedis(), settings, shards);
  }

  private constructor(server: RedisServer, settings: SettingsInput, shards: number) {
    this.#server = server;
    this.keys = createKeys(shards);
    this.redis = this.connect('one');
    this.#rivalRedis = this.connect('two');
    this.ledger = this.#ledgerOn(this.redis, settings);
    this.rival = this.#ledgerOn(this.#rivalRedis, settings);
  }

  async close(): Promise<void> {
    this.redis.disconnect();
    this.#rivalRedis.disconnect();
    await this.#server.stop();
  }

  async reset(): Promise<void> {
    await this.redis.flushall();
    this.limits = null;
    this.granted = [];
    this.limitsByTenant.clear();
    this.costs.clear();
  }

  async accept(wish: TaskWish = {}): Promise<AcceptAnswer> {
    return await acceptNewTask(this.ledger, aTask(wish));
  }

  /** Accepts a task that has to be accepted, and returns its id. */
  async accepted(wish: TaskWish = {}): Promise<string> {
    const answer = await this.accept(wish);
    if (answer.kind !== 'accepted') throw new Error(`The task was not accepted: ${answer.kind}`);
    return answer.id;
  }

  async place(id: string, tenant: string = TENANT): Promise<TaskPlace> {
    return { tenant, id, lane: (await readTask(this.ledger, tenant, id))?.state.lane ?? null };
  }

  async claim(id: string, worker = 'w1'): Promise<ClaimAnswer> {
    return await claimTask(this.ledger, await this.place(id), worker);
  }

  /** The best tasks for so many free slots of a worker that serves the queue of tasks alone, as they started. */
  async claimBest(count = 1, queues: readonly TaskQueue[] = ['tasks'], ledger: Ledger = this.ledger): Promise<Held[]> {
    const policy = {
      slots: SLOTS,
      reserved: 0,
      people: 0,
      weights: new Map(queues.map((queue) => [queue, 1])),
      shares: SHARES,
      lowAgeMs: 300_000,
    };
    const { tickets } = await claimForSlots(ledger, {
      shard: 0,
      worker: 'w1',
      queues: queues.map((queue) => ({ queue, pauses: `${this.keys.shard(0).queues}:${queue}:meta` })),
      count,
      left: 0,
      pool: new RunningSlots(policy).pool(0, ''),
      drawn: [],
      ended: [],
    });
    return tickets.flatMap(({ ticket, claimed }) =>
      claimed ? [{ tenant: ticket.tenant, id: ticket.task, lane: ticket.lane, token: claimed.state.token, state: claimed.state }] : [],
    );
  }

  /** Claims a task that has to be claimable. */
  async claimed(id: string, worker = 'w1'): Promise<Held> {
    const place = await this.place(id);
    const answer = await claimTask(this.ledger, place, worker);
    if (answer.kind !== 'claimed') throw new Error(`The task was not claimed: ${answer.kind}`);
    return { ...place, token: answer.state.token, state: answer.state };
  }

  /** Returns the status of the task since, or `lost`. */
  async settle(held: Held, verdict: AttemptEnd): Promise<TaskStatus | 'lost'> {
    return statusSince(await settleAttempt(this.ledger, held, verdict));
  }

  /** Runs a task through, from its claim to its end. */
  async completed(id: string): Promise<void> {
    await this.settle(await this.claimed(id), DONE);
  }

  async read(id: string): Promise<Task> {
    const task = await readTask(this.ledger, TENANT, id);
    if (!task) throw new Error(`There is no task ${id}`);
    return task;
  }

  /** A task of another tenant. */
  async taskOf(tenant: string, id: string): Promise<Task> {
    const task = await readTask(this.ledger, tenant, id);
    if (!task) throw new Error(`There is no task ${id}`);
    return task;
  }

  async cancelled(tenant: string, id: string): Promise<void> {
    await cancelTask(this.ledger, await this.place(id, tenant), 'not any more');
  }

  async state(id: string): Promise<TaskState> {
    return (await this.read(id)).state;
  }

  async statuses(...ids: string[]): Promise<string[]> {
    return await Promise.all(ids.map(async (id) => (await this.state(id)).status));
  }

  /** Whose lease, so far as Redis knows, ended long ago. */
  async endLease({ tenant, id, token }: Held): Promise<void> {
    await this.redis.zadd(this.keys.shard(this.keys.shardOf(tenant)).leases, 1, `${tenant}/${id}/${token}`);
  }

  /** Lets the time pass that a task waits for: writes it as past, and brings on what waited for it to start. */
  async makeDue(id: string, field: 'notBefore' | 'deadline' = 'notBefore', tenant: string = TENANT): Promise<void> {
    const { states, bodies } = this.keys.tenant(tenant);
    const { deadlines } = this.keys.shard(this.keys.shardOf(tenant));
    // One step, because others may move the task meanwhile. A state without a tail has its deadline in the body.
    const script = `
      for key = 1, ARGV[2] == 'deadline' and 2 or 1 do
        local text = redis.call('HGET', KEYS[key], ARGV[1])
        if text then redis.call('HSET', KEYS[key], ARGV[1], (string.gsub(text, '"' .. ARGV[2] .. '":%d+', '"' .. ARGV[2] .. '":1'))) end
      end
      if ARGV[2] == 'deadline' then redis.call('ZADD', KEYS[3], 'XX', 1, ARGV[3]) end`;
    await this.redis.eval(script, 3, states, bodies, deadlines, id, field, `${tenant}/${id}`);
    if (field === 'notBefore') await promoteDue(this.ledger, tenant, [id]);
  }

  /** Writes since when others may pass a waiting task, ms; what is long ago keeps its lanes for it. */
  async setPassed(id: string, ms: number, tenant: string = TENANT): Promise<void> {
    const { live, states } = this.keys.tenant(tenant);
    const { state } = await this.taskOf(tenant, id);
    const member = (at: number): string => `passed=${state.queue === 'critical' ? '!' : ''}${String(at).padStart(15, '0')}/${id}`;
    if (state.passed === undefined) throw new Error('Nobody may pass it in any lane');
    await this.redis.multi().zrem(live, member(state.passed)).zadd(live, 0, member(ms)).exec();
    await this.redis.hset(states, id, storedState({ ...state, passed: ms }));
  }

  /** Names of the tenant's events, oldest first, of one task or all. */
  async events(id?: string): Promise<string[]> {
    const entries = await this.redis.xrange(this.keys.tenant(TENANT).events, '-', '+');
    return entries
      .map(([, [, event = '', , tasks = '']]) => ({ event, tasks: tasks.split(',') }))
      .filter(({ tasks }) => id === undefined || tasks.includes(id))
      .map(({ event }) => event);
  }

  /** Another connection, for the caller to close. */
  connect(name: string): RedisClient {
    return connectRedis({ url: this.#server.url, name, log: createLog({ level: 'silent', service: 'test' }) });
  }

  #ledgerOn(redis: RedisClient, settings: SettingsInput): Ledger {
    return createLedger({
      redis,
      keys: this.keys,
      settings: settingsSchema.parse({ dispatch: { lookAhead: LOOK_AHEAD }, ...settings }),
      limitsOf: (tenant) => this.limitsByTenant.get(tenant) ?? this.limits,
      boundedTenants: () => [TENANT],
      costOf: (_tenant, agent) => this.costs.get(agent) ?? 1000,
      onTicket: (ticket) => this.granted.push(ticket),
    });
  }
}
