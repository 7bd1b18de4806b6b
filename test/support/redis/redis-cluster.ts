import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { freePort } from '../free-port.ts';
import { startRedisProcess } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';
import { waitFor } from '../wait-for.ts';

/** A Redis Cluster of three masters with a replica each, all on the loopback address. */
export interface RedisCluster {
  /** What a service takes as `REDIS_URL`. */
  readonly url: string;
  /**
   * Kills the master that serves a key by SIGKILL, waits until its replica has taken over, and starts it again as a replica that has all the
   * new master has. `whileDown` is called once the master is gone.
   */
  killMasterOf(key: string, whileDown?: () => void): Promise<void>;
  /** Resolves when the replica of the master that serves a key has everything that the master had when this was called. */
  replicate(key: string): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  server: RedisServer;
  client: RedisClient;
  busPort: number;
}

const MASTERS = 3;
const SLOTS = 16_384;
/** A master is failed over after so long without an answer. */
const NODE_TIMEOUT_MS = 1500;
const READY_MS = 60_000;
const log = createLog({ level: 'silent', service: 'test' });

/** Starts six servers and joins them. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: Node[] = [];
  for (let count = 0; count < MASTERS * 2; count += 1) nodes.push(await startNode());
  await join(nodes);
  const masterOf = async (key: string): Promise<Node> => await findMaster(nodes, key);
  const replicate = async (key: string): Promise<void> => {
    const master = await masterOf(key);
    const offset = Number(await field(master.client, 'replication', 'master_repl_offset'));
    await waitFor(async () => (await replicaOffset(master.client)) >= offset, until('its replica to have all'));
  };
  const killMasterOf: RedisCluster['killMasterOf'] = async (key, whileDown) => {
    const killed = await masterOf(key);
    await killed.server.kill();
    whileDown?.();
    const others = nodes.filter((node) => node !== killed);
    await waitFor(async () => (await findMaster(others, key)) !== killed && (await areComplete(others)), until('a replica to take over'));
    await killed.server.restart();
    await waitFor(async () => (await field(killed.client, 'replication', 'role')) === 'slave', until('the old master to follow'));
    await waitFor(
      async () => (await field(killed.client, 'replication', 'master_link_status')) === 'up',
      until('the old master to have all'),
    );
    await waitFor(() => areComplete(nodes), until('the cluster to be complete'));
  };
  return {
    url: `redis+cluster://${nodes.map(({ server }) => `127.0.0.1:${server.port}`).join(',')}`,
    killMasterOf,
    replicate,
    stop: async () => {
      for (const { client } of nodes) client.disconnect();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}

const until = (what: string): { deadlineMs: number; everyMs: number; what: string } => ({ deadlineMs: READY_MS, everyMs: 50, what });

async function startNode(): Promise<Node> {
  const busPort = await freePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  const server = await startRedisProcess({ args: [...cluster, '--appendonly', 'yes', '--repl-diskless-sync-delay', '0'] });
  return { server, busPort, client: connectRedis({ url: server.url, name: 'node', log }) };
}

async function join(nodes: readonly Node[]): Promise<void> {
  const [first] = nodes;
  for (const [position, { client }] of nodes.slice(0, MASTERS).entries()) {
    const from = Math.ceil((SLOTS / MASTERS) * position);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, Math.ceil((SLOTS / MASTERS) * (position + 1)) - 1);
  }
  for (const { server, busPort } of nodes.slice(1)) await first?.client.call('CLUSTER', 'MEET', '127.0.0.1', server.port, busPort);
  for (const [position, { client }] of nodes.slice(MASTERS).entries()) {
    const id = String(await nodes[position]?.client.call('CLUSTER', 'MYID'));
    await waitFor(async () => String(await client.call('CLUSTER', 'NODES')).includes(id), until('a master to be known'));
    await waitFor(() => client.call('CLUSTER', 'REPLICATE', id), until('a replica to follow'));
  }
  for (const { client } of nodes.slice(MASTERS)) {
    await waitFor(async () => (await field(client, 'replication', 'master_link_status')) === 'up', until('a replica to have all'));
  }
  await waitFor(() => areComplete(nodes), until('the cluster to be complete'));
}

async function areComplete(nodes: readonly Node[]): Promise<boolean> {
  const states = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')));
  return states.every((state) => String(state).includes('cluster_state:ok'));
}

/** By what a node that is up says of the slot. */
async function findMaster(nodes: readonly Node[], key: string): Promise<Node> {
  for (const { client } of nodes) {
    const port = await servingPort(client, key).catch(() => null);
    const found = nodes.find(({ server }) => server.port === port);
    if (found) return found;
  }
  throw new Error(`No node serves ${key}`);
}

async function servingPort(client: RedisClient, key: string): Promise<number | null> {
  const slot = Number(await client.call('CLUSTER', 'KEYSLOT', key));
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1] ?? null;
}

async function replicaOffset(master: RedisClient): Promise<number> {
  const replica = await field(master, 'replication', 'slave0');
  return Number(/offset=(\d+)/.exec(replica)?.[1] ?? -1);
}

async function field(client: RedisClient, section: string, name: string): Promise<string> {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(await client.info(section))?.[1] ?? '';
}
