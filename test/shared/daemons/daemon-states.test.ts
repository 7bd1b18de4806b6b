import { afterEach, describe, expect, it } from 'vitest';
import {
  type BeatOutcome,
  createDaemon,
  type Daemon,
  type DaemonBeat,
  type DaemonSignal,
  type DaemonState,
  parseDaemonSignal,
  readDaemonStates,
  readLastStates,
  removeDaemon,
  removeDaemonState,
  statusOf,
  writeDaemonStates,
} from '#shared/daemons/index.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { daemonState } from '../../support/daemons/daemon-state.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const server = await useRedis();
const parts = { redis: await useRedisClient(server), keys: createKeys(4) };
const subscriber = await useRedisClient(server);
const { redis, keys } = parts;

afterEach(async () => {
  await redis.flushall();
});

const STATE = daemonState();

const register = async (name = 'laptop', tenant = 'acme'): Promise<Daemon> => {
  const registration = { name, user: null, capabilities: null, slots: null, agents: null, enabled: true };
  return (await createDaemon(parts, { ...registration, tenant }, 10)).daemon;
};

const connect = async ({ tenant, id }: Daemon, state: Partial<DaemonState> = {}): Promise<BeatOutcome | undefined> =>
  (await writeDaemonStates(parts, [{ tenant, id, state: { ...STATE, ...state }, isFirst: true }]))[0];

const beat = async ({ tenant, id }: Daemon, state: Partial<DaemonState> = {}): Promise<BeatOutcome | undefined> =>
  (await writeDaemonStates(parts, [{ tenant, id, state: { ...STATE, ...state } }]))[0];

describe('the state of a daemon', () => {
  it('is read as its hub wrote it, with the beat by Redis’s clock', async () => {
    const daemon = await register();
    const before = await redisNow(redis);
    expect(await connect(daemon, { capabilities: ['a b', 'ö'], load: 0.25 })).toBe('connected');
    const [live, ...others] = await readDaemonStates(parts);
    expect(others).toEqual([]);
    expect(live).toEqual({
      tenant: 'acme',
      id: daemon.id,
      state: { ...STATE, capabilities: ['a b', 'ö'], load: 0.25, beatAt: live?.state.beatAt },
    });
    expect(live?.state.beatAt).toBeGreaterThanOrEqual(before);
  });

  it('is of one tenant where one is named', async () => {
    const [own, other] = [await register(), await register('laptop', 'other')];
    await writeDaemonStates(
      parts,
      [own, other].map(({ tenant, id }) => ({ tenant, id, state: STATE, isFirst: true })),
    );
    expect((await readDaemonStates(parts, 'acme')).map(({ id }) => id)).toEqual([own.id]);
    expect(await readDaemonStates(parts, 'nobody')).toEqual([]);
    expect(await readDaemonStates(parts)).toHaveLength(2);
  });

  it('is kept as it was last when the connection ends, and is no live one', async () => {
    const daemon = await register();
    await connect(daemon, { running: 1 });
    expect(await removeDaemonState(parts, { ...daemon, connection: STATE.connection })).toBe(true);
    expect(await removeDaemonState(parts, { ...daemon, connection: STATE.connection })).toBe(false);
    expect(await readDaemonStates(parts)).toEqual([]);
    expect(await readDaemonStates(parts, 'acme')).toEqual([]);
    expect(await readLastStates(parts, 'acme', [daemon.id, 'dmn_none'])).toEqual([
      { state: expect.objectContaining({ running: 1 }) as DaemonState, isConnected: false },
      null,
    ]);
    expect(await connect(daemon)).toBe('connected');
  });

  it('belongs to the newest connection, and the former one is refused', async () => {
    const daemon = await register();
    await connect(daemon);
    expect(await connect(daemon, { connection: 'hub-2:1', hub: 'hub-2' })).toBe('written');
    expect(await beat(daemon)).toBe('taken-over');
    expect(await removeDaemonState(parts, { ...daemon, connection: STATE.connection })).toBe(false);
    expect(await beat(daemon, { connection: 'hub-2:1', hub: 'hub-2', running: 1 })).toBe('written');
    expect((await readDaemonStates(parts)).map(({ state }) => [state.hub, state.running])).toEqual([['hub-2', 1]]);
  });

  it('of a connection without beats gives way to any other', async () => {
    const daemon = await register();
    await connect(daemon);
    await redis.hset(keys.fleet.daemonStates, `acme/${daemon.id}`, `1 hub-2:1 ${JSON.stringify(STATE)}`);
    expect(await beat(daemon)).toBe('connected');
  });

  it('of a daemon that is not registered any more is not written', async () => {
    const daemon = await register();
    await connect(daemon);
    await removeDaemon(parts, daemon);
    expect(await redis.exists(keys.fleet.daemonStates)).toBe(0);
    expect(await beat(daemon)).toBe('unknown');
    expect(await redis.exists(keys.fleet.daemonStates)).toBe(0);
  });

  it('that this version cannot read hides no other', async () => {
    const [broken, daemon] = [await register('a'), await register('b')];
    await connect(daemon);
    await redis.hset(keys.fleet.daemonStates, `acme/${broken.id}`, 'broken');
    expect((await readDaemonStates(parts)).map(({ id }) => id)).toEqual([daemon.id]);
    expect((await readDaemonStates(parts, 'acme')).map(({ id }) => id)).toEqual([daemon.id]);
  });
});

it('more daemons than one call takes get an outcome each, in order', async () => {
  const daemon = await register();
  const beats: DaemonBeat[] = Array.from({ length: 2500 }, (_, n) => ({
    tenant: 'acme',
    id: n === 2400 ? daemon.id : `dmn_${n}`,
    state: STATE,
    isFirst: true,
  }));
  const outcomes = await writeDaemonStates(parts, beats);
  expect(outcomes).toHaveLength(2500);
  expect(outcomes.flatMap((outcome, position) => (outcome === 'unknown' ? [] : [[position, outcome]]))).toEqual([[2400, 'connected']]);
});

it('beats of many daemons cost no more commands than that of one', async () => {
  const daemons = await Promise.all(Array.from({ length: 5 }, (_, n) => register(`desk-${n}`)));
  const commandsOf = async (beats: readonly DaemonBeat[]): Promise<number> => {
    await redis.config('RESETSTAT');
    await writeDaemonStates(parts, beats);
    const counted = (await redis.info('commandstats')).matchAll(/cmdstat_(hmget|hset|hget|hexists|time|eval|evalsha|publish):calls=(\d+)/g);
    return [...counted].reduce((sum, [, , count]) => sum + Number(count), 0);
  };
  const beats = daemons.map(({ tenant, id }) => ({ tenant, id, state: STATE }));
  await writeDaemonStates(parts, beats);
  expect(await commandsOf(beats)).toBe(await commandsOf(beats.slice(0, 1)));
});

it('beats and ends of connections are published, those of refused ones are not', async () => {
  const signals: (DaemonSignal | null)[] = [];
  subscriber.on('message', (_channel: string, text: string) => signals.push(parseDaemonSignal(text)));
  await subscriber.subscribe(keys.fleet.daemonSignal);
  const daemon = await register();
  await connect(daemon);
  await beat(daemon, { connection: 'other' });
  await removeDaemonState(parts, { ...daemon, connection: STATE.connection });
  await waitFor(() => signals.length === 2, { deadlineMs: 5000, what: '2 messages' });
  const { tenant, id } = daemon;
  expect(signals).toMatchObject([
    { kind: 'states', states: [{ tenant, id, state: { connection: STATE.connection } }] },
    { kind: 'gone', tenant, id, connection: STATE.connection },
  ]);
});

describe('the status of a daemon', () => {
  const now = 100_000;
  it.each([
    ['offline', null],
    ['offline', { beatAt: now - 60_000 }],
    ['online', { beatAt: now - 59_999 }],
    ['online', { beatAt: now, running: 1 }],
    ['busy', { beatAt: now, running: 2 }],
    ['busy', { beatAt: now, slots: 0 }],
    ['draining', { beatAt: now, running: 2, isDraining: true }],
  ] as const)('is %s with %j', (status, state) => {
    expect(statusOf(state && { ...STATE, ...state }, now)).toBe(status);
  });
});
