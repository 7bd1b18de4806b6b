import type { Cluster, Redis } from 'ioredis';
import type { Log } from '../log/index.ts';

type Client = Redis | Cluster;

/** The connections of this process to one Redis, and whether an outage is reported. */
interface Connections {
  clients: Set<Client>;
  isLost: boolean;
}

/** By address. A process has several connections, and its log one line for what they all see. */
const all = new Map<string, Connections>();

/** Logs one line when connections to this Redis break, and one when all of them are back. */
export function reportOutages(client: Client, url: string, log: Log): void {
  const connections = all.get(url) ?? { clients: new Set(), isLost: false };
  all.set(url, connections);
  connections.clients.add(client);
  client.on('error', (error: Error) => {
    if (!connections.isLost) log.warn({ event: 'redis.lost', reason: error.message }, 'Redis does not answer');
    connections.isLost = true;
  });
  client.on('ready', () => reportReturn(connections, log));
  client.on('end', () => {
    connections.clients.delete(client);
    if (connections.clients.size === 0 && all.get(url) === connections) all.delete(url);
  });
}

function reportReturn(connections: Connections, log: Log): void {
  // One that reconnects may not have met the outage yet.
  if (!connections.isLost || [...connections.clients].some(({ status }) => status !== 'ready' && status !== 'wait')) return;
  connections.isLost = false;
  log.info({ event: 'redis.back' }, 'Redis is back');
}

/** The same of one connection of many, for the closer look. */
export function reportConnection(client: Client, log: Log): void {
  let isDown = false;
  client.on('error', (error: Error) => {
    if (!isDown) log.debug({ event: 'redis.lost', reason: error.message }, 'Redis does not answer');
    isDown = true;
  });
  client.on('ready', () => {
    if (isDown) log.debug({ event: 'redis.back' }, 'Redis is back');
    isDown = false;
  });
}
