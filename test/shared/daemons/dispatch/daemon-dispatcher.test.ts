import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDaemon } from '#shared/daemons/daemon-store.ts';
import type { DaemonState } from '#shared/daemons/daemon-state.ts';
import { writeDaemonStates } from '#shared/daemons/daemon-states.ts';
import { DaemonDirectory } from '#shared/daemons/dispatch/daemon-directory.ts';
import { DaemonDispatcher } from '#shared/daemons/dispatch/daemon-dispatcher.ts';
import type { LocalDaemon } from '#shared/daemons/dispatch/local-daemons.ts';
import { explainDaemons } from '#shared/daemons/dispatch/explain-daemons.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readState } from '#shared/ledger/read/read-states.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { daemonState } from '../../../support/daemons/daemon-state.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TENANT = 'default';
const server = await useRedis();
const settings = { agents: { desk: { kind: 'daemon' as const } } };
const parts = closeAfterTests(await openTestParts({ redisUrl: server.url, settings }));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map(async (close) => await close()));
  await parts.relay.idle();
  await parts.redis.flushall();
});

/** Runs tasks until they are let end. */
class FakeDaemon implements LocalDaemon {
  readonly tenant = TENANT;
  readonly id: string;
  readonly ran: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #hub: FakeHub;
  readonly #more: Partial<DaemonState>;

  constructor(hub: FakeHub, id: string, more: Partial<DaemonState> = {}) {
    this.id = id;
    this.#hub = hub;
    this.#more = more;
  }

  get state(): DaemonState {
    const { name: hub } = this.#hub;
    const { id } = this;
    return daemonState({ connection: `${hub}:${id}`, hub, name: id, slots: 1, ...this.#more, running: this.#ends.size });
  }

  async run({ tenant, task: id, lane }: TicketData): Promise<TicketResult> {
    const end = Promise.withResolvers<void>();
    this.#ends.set(id, end.resolve);
    const claim = await claimTask(parts.ledger, { tenant, id, lane: lane ?? null }, this.#hub.name);
    if (claim.kind === 'claimed') {
      this.ran.push(id);
      await end.promise;
      const ref = { tenant, id, lane: lane ?? null, token: claim.state.token };
      await settleAttempt(parts.ledger, ref, { kind: 'completed', output: '', result: null, usage: null });
    }
    this.#ends.delete(id);
    this.#hub.onRoom(this);
    return { kind: 'done', note: claim.kind };
  }

  end(id: string): void {
    this.#ends.get(id)?.();
  }
}

class FakeHub {
  readonly name: string;
  readonly daemons: FakeDaemon[] = [];
  readonly dispatcher: DaemonDispatcher;
  readonly directory: DaemonDirectory;
  readonly failed: [id: string, code: string][] = [];
  onRoom: (daemon: LocalDaemon) => void = () => undefined;

  constructor(name: string) {
    this.name = name;
    const { log, ledger, redis, keys } = parts;
    this.directory = new DaemonDirectory({ redis, keys, log, subscribe: (...args) => parts.subscribe(...args), refreshMs: 50 });
    this.dispatcher = new DaemonDispatcher({
      hub: name,
      ledger,
      directory: this.directory,
      local: {
        find: (_tenant, id) => this.daemons.find((daemon) => daemon.id === id),
        all: () => this.daemons,
        onRoom: (listener) => {
          this.onRoom = listener;
        },
      },
      keepsSlot: true,
      findAgent: (tenant, id) => parts.findAgent(tenant, id),
      fail: ({ task }, _how, { code }) => {
        this.failed.push([task, code]);
        return Promise.resolve({ kind: 'failed', message: code });
      },
      subscribe: (...args) => parts.subscribe(...args),
      settings: { offerMs: 2000, sweepMs: 60_000 },
      log,
    });
    this.directory.start();
    this.dispatcher.start();
    closing.push(async () => {
      await this.dispatcher.stop();
      await this.directory.stop();
    });
  }

  async connect(id: string, more: Partial<DaemonState> = {}): Promise<FakeDaemon> {
    const daemon = new FakeDaemon(this, id, more);
    this.daemons.push(daemon);
    await parts.redis.hset(parts.keys.fleet.daemons(TENANT), id, '{}');
    await writeDaemonStates(parts, [{ tenant: TENANT, id, state: daemon.state, isFirst: true }]);
    this.onRoom(daemon);
    return daemon;
  }
}

const until = async (check: () => boolean | Promise<boolean>): Promise<boolean> =>
  await waitFor(check, { deadlineMs: 10_000, what: 'the dispatcher' });
const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent: 'desk', input: 'x', ...request })).id;
const stateOf = async (id: string): Promise<TaskState | null> => await readState(parts.ledger, TENANT, id);
const handle = async (hub: FakeHub, id: string): Promise<TicketResult> => await hub.dispatcher.handle({ tenant: TENANT, task: id }, {});
/** Tasks that a release gave a ticket again. */
const granted = async (ids: readonly string[]): Promise<string[]> => {
  const states = await Promise.all(ids.map(stateOf));
  return ids.filter((_, at) => states[at]?.granted === true);
};

describe('a task that needs a daemon', () => {
  it('runs on a daemon of the hub that took its ticket', async () => {
    const hub = new FakeHub('h1');
    const daemon = await hub.connect('d1');
    const id = await submit();
    const handling = handle(hub, id);
    await until(() => daemon.ran.includes(id));
    daemon.end(id);
    expect(await handling).toEqual({ kind: 'done', note: 'claimed' });
    expect(await stateOf(id)).toMatchObject({ status: 'completed' });
  });

  it('that is new is claimed at once by what its ticket says, and is read before only when it comes without', async () => {
    const hub = new FakeHub('h1');
    const daemon = await hub.connect('d1', { capabilities: ['gpu'], slots: 5 });
    const requirements = { capabilities: ['gpu'] };
    const readsOf = async (withNeeds: boolean): Promise<number> => {
      const id = await submit({ requirements });
      await parts.relay.idle();
      const job = await parts.queues.get(parts.keys.shardOf(TENANT), 'remote').getJob(id);
      const needs = job?.data.needs;
      expect(needs).toEqual({ agent: 'desk', requirements, user: null });
      const read = vi.spyOn(parts.redis, 'hget');
      const handling = hub.dispatcher.handle({ tenant: TENANT, task: id, ...(withNeeds && needs ? { needs } : {}) }, {});
      await until(() => daemon.ran.includes(id));
      const reads = read.mock.calls.length;
      read.mockRestore();
      daemon.end(id);
      await handling;
      return reads;
    };
    expect(await readsOf(true)).toBe(0);
    expect(await readsOf(false)).toBe(1);
  });

  it('that was held is read together with the others that were released with it', async () => {
    const hub = new FakeHub('h1');
    const daemon = await hub.connect('d1', { slots: 20 });
    const ids = await Promise.all(Array.from({ length: 20 }, async () => await submit()));
    const run = vi.spyOn(parts.ledger, 'run');
    const handling = ids.map(async (id) => await handle(hub, id));
    await until(() => daemon.ran.length === ids.length);
    const reads = run.mock.calls.filter(([script]) => script === 'read-states').length;
    run.mockRestore();
    expect(reads).toBe(1);
    for (const id of ids) daemon.end(id);
    await Promise.all(handling);
  });

  it('that is new waits like any other when no daemon can run it', async () => {
    const hub = new FakeHub('h1');
    await hub.connect('d1', { capabilities: ['browser'] });
    const requirements = { capabilities: ['gpu'] };
    const id = await submit({ requirements });
    await hub.dispatcher.handle({ tenant: TENANT, task: id, needs: { agent: 'desk', requirements, user: null } }, {});
    expect(await stateOf(id)).toMatchObject({ gate: 'daemon', token: 0 });
  });

  it('is not taken by the daemon of another hub that has no slot left, whatever is known of it here', async () => {
    const [hub, other] = [new FakeHub('h1'), new FakeHub('h2')];
    const daemon = await other.connect('d1');
    await until(() => hub.directory.of(TENANT).length === 1);
    const [first, second] = [await submit(), await submit()];
    const running = handle(other, first);
    await until(() => daemon.ran.includes(first));
    expect(hub.directory.of(TENANT)).toMatchObject([{ id: 'd1', state: { running: 0 } }]);
    const held = handle(hub, second);
    await until(async () => (await stateOf(second))?.gate === 'daemon' || daemon.ran.includes(second));
    expect(daemon.ran).toEqual([first]);
    daemon.end(first);
    await Promise.all([running, held]);
  });

  it('runs on a daemon of another hub, and its ticket ends with it', async () => {
    const [hub, other] = [new FakeHub('h1'), new FakeHub('h2')];
    const daemon = await other.connect('d1');
    await until(() => hub.directory.of(TENANT).length === 1);
    const id = await submit();
    let hasEnded = false;
    const handling = handle(hub, id).finally(() => {
      hasEnded = true;
    });
    await until(() => daemon.ran.includes(id));
    expect(hasEnded).toBe(false);
    daemon.end(id);
    expect(await handling).toEqual({ kind: 'done', note: 'claimed' });
  });

  it('keeps no slot of the hub that took its ticket once a third hub has adopted and counts its attempt', async () => {
    const [hub, other, third] = [new FakeHub('h1'), new FakeHub('h2'), new FakeHub('h3')];
    const daemon = await other.connect('d1');
    await until(() => hub.directory.of(TENANT).length === 1);
    const id = await submit();
    let hasEnded = false;
    const handling = handle(hub, id).finally(() => {
      hasEnded = true;
    });
    await until(() => daemon.ran.includes(id));
    await until(() => {
      // Again and again: the first hub may not wait yet.
      third.dispatcher.noteAdopted({ tenant: TENANT, task: id });
      return hasEnded;
    });
    expect(await handling).toEqual({ kind: 'done', note: 'runs, or ran, at another hub' });
    expect(await stateOf(id)).toMatchObject({ status: 'running' });
    daemon.end(id);
    await until(async () => (await stateOf(id))?.status === 'completed');
  });

  it('is held by its needs while none fits, without an attempt, and why says which', async () => {
    const hub = new FakeHub('h1');
    await hub.connect('d1', { capabilities: ['browser'] });
    const id = await submit({ requirements: { capabilities: ['gpu'] } });
    expect(await handle(hub, id)).toMatchObject({ kind: 'done' });
    const state = await stateOf(id);
    expect(state).toMatchObject({ status: 'queued', gate: 'daemon', token: 0 });
    expect((await explainDaemons(parts, TENANT, state?.hold?.what ?? ''))?.detail).toContain('with gpu');
  });

  it('is released when a daemon that fits connects, and no other is', async () => {
    const hub = new FakeHub('h1');
    const [gpu, browser] = [
      await submit({ requirements: { capabilities: ['gpu'] } }),
      await submit({ requirements: { capabilities: ['browser'] } }),
    ];
    await Promise.all([handle(hub, gpu), handle(hub, browser)]);
    await hub.connect('d1', { capabilities: ['gpu'], slots: 5 });
    await until(async () => (await granted([gpu])).length === 1);
    expect(await granted([browser])).toEqual([]);
  });

  it('is released when another hub’s daemon frees a slot, the best first and one per slot', async () => {
    const [hub, other] = [new FakeHub('h1'), new FakeHub('h2')];
    const daemon = await other.connect('d1');
    await until(() => hub.directory.of(TENANT).length === 1);
    const first = await submit();
    const running = handle(hub, first);
    await until(() => daemon.ran.includes(first));
    const waiting = [await submit(), await submit({ priority: 9 }), await submit()];
    for (const id of waiting) await handle(hub, id);
    expect(await granted(waiting)).toEqual([]);
    daemon.end(first);
    await running;
    await until(async () => (await granted(waiting)).length > 0);
    expect(await granted(waiting)).toEqual([waiting[1]]);
  });

  it('does not pass one that is held for the same daemon and stands before it', async () => {
    const hub = new FakeHub('h1');
    const daemon = await hub.connect('d1');
    const running = await submit();
    const first = handle(hub, running);
    await until(() => daemon.ran.includes(running));
    const older = await submit();
    await handle(hub, older);
    const newer = await submit();
    // The newer ticket comes before the hub has noticed the free slot.
    hub.onRoom = () => undefined;
    daemon.end(running);
    await first;
    await handle(hub, newer);
    expect(await stateOf(newer)).toMatchObject({ gate: 'daemon' });
    await until(async () => (await granted([older])).length === 1);
    expect(daemon.ran).toEqual([running]);
    const last = handle(hub, older);
    await until(() => daemon.ran.includes(older));
    daemon.end(older);
    await last;
  });

  it('fails for good when it names a daemon that does not exist', async () => {
    const hub = new FakeHub('h1');
    const id = await submit({ requirements: { targetDaemon: 'nobody' } });
    expect(await handle(hub, id)).toEqual({ kind: 'failed', message: 'DAEMON_NOT_FOUND' });
    expect(hub.failed).toEqual([[id, 'DAEMON_NOT_FOUND']]);
  });

  it('waits for a daemon that is not connected, which its people are told once', async () => {
    const hub = new FakeHub('h1');
    const registration = { name: 'laptop', user: null, capabilities: null, slots: null, agents: null, enabled: true };
    await createDaemon(parts, { tenant: TENANT, ...registration }, 10);
    const id = await submit({ requirements: { targetDaemon: 'laptop' } });
    await handle(hub, id);
    const state = await stateOf(id);
    expect(state?.log).toContain('waits for the daemon "laptop", which is not connected');
    expect(await explainDaemons(parts, TENANT, state?.hold?.what ?? '')).toMatchObject({
      detail: 'waits for the daemon "laptop", which has never been connected',
    });
    const events = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
    expect(events.filter(([, fields]) => fields.includes('task.waiting-for-daemon'))).toHaveLength(1);
  });

  it('of a chat waits while no daemon is connected, which the chat is told', async () => {
    const hub = new FakeHub('h1');
    const ids = [await submit({ source: 'chat', reply: { platform: 'telegram', thread: 'telegram:1' } }), await submit()];
    for (const id of ids) await handle(hub, id);
    const notices = await Promise.all(ids.map(async (id) => (await stateOf(id))?.notice));
    expect(notices).toEqual([expect.stringContaining('It waits for a daemon: no daemon is connected'), undefined]);
  });

  it('is told to be blocked at once when it is critical and none can run it', async () => {
    const hub = new FakeHub('h1');
    await handle(hub, await submit({ priority: 'critical' }));
    const events = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
    expect(events.filter(([, fields]) => fields.includes('task.blocked'))).toHaveLength(1);
  });

  it('is held when the hub of the only daemon does not answer', async () => {
    const hub = new FakeHub('h1');
    await parts.redis.hset(parts.keys.fleet.daemons(TENANT), 'd1', '{}');
    const state = { ...new FakeDaemon(new FakeHub('h2'), 'd1').state, hub: 'gone' };
    await writeDaemonStates(parts, [{ tenant: TENANT, id: 'd1', state, isFirst: true }]);
    await until(() => hub.directory.of(TENANT).length === 1);
    const id = await submit();
    await handle(hub, id);
    expect(await stateOf(id)).toMatchObject({ gate: 'daemon' });
  });
});
