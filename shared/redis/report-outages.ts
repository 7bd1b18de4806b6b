import type { Cluster, Redis } from 'ioredis';
import type { Log } from '../log/index.ts';
import { describeRefusal, type Refusal, refusalOf } from './refusals.ts';

type Client = Redis | Cluster;

/** The connections of this process to one Redis, and what is reported of it. */
interface Connections {
  clients: Set<Client>;
  isLost: boolean;
  refusal: Refusal | null;
}

/** By address, the one that changed last at the end. A process has several connections, and its log one line for what they all see. */
const all = new Map<string, Connections>();

/** Logs one line when connections to this Redis break, and one when all of them are back. */
export function reportOutages(client: Client, url: string, log: Log): void {
  const connections = all.get(url) ?? { clients: new Set(), isLost: false, refusal: null };
  all.set(url, connections);
  connections.clients.add(client);
  client.on('error', (error: Error) => {
    const refusal = refusalOf(error);
    if (refusal !== null) noteRefusal(url, refusal, log);
    else if (!connections.isLost && connections.refusal === null)
      log.warn({ event: 'redis.lost', reason: error.message }, 'Redis does not answer');
    if (refusal === null) connections.isLost = true;
  });
  client.on('ready', () => reportReturn(connections, log));
  client.on('end', () => {
    connections.clients.delete(client);
    if (connections.clients.size === 0 && all.get(url) === connections) all.delete(url);
  });
}

/** Logs one line when this Redis begins to refuse, or refuses something else, and one when it serves again. */
export function noteRefusal(url: string, refusal: Refusal | null, log: Log): void {
  const connections = all.get(url);
  if (!connections || connections.refusal?.word === refusal?.word) return;
  connections.refusal = refusal;
  all.delete(url);
  all.set(url, connections);
  if (refusal === null) log.info({ event: 'redis.serves' }, 'Redis takes commands again');
  else log.warn({ event: 'redis.refused', refusal: refusal.word }, `Redis refuses commands: ${describeRefusal(refusal)}`);
}

/** What a Redis of this process refused last, for the errors of calls that were not answered; null when nothing is known of it. */
export function knownRefusal(): Refusal | null {
  return [...all.values()].findLast(({ refusal }) => refusal !== null)?.refusal ?? null;
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
