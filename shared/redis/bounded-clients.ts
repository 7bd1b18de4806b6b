import { Cluster, type ClusterNode, type ClusterOptions as BaseOptions, type Command, Redis, type RedisOptions } from 'ioredis';
import { startDeadline } from '../time/index.ts';

/** Answers come in the shapes of the older protocol. */
export type NodeOptions = RedisOptions & { replyMapping: 'legacy' };
export type ClusterOptions = Omit<BaseOptions, 'redisOptions'> & { redisOptions: NodeOptions };

/**
 * BoundedRedis is responsible for every command ending within a time, also while Redis is away or the link is half open. The client's
 * own timeout counts time in which this process was too busy to read the answer, and would take that for a Redis that is gone.
 */
export class BoundedRedis extends Redis {
  readonly #timeoutMs: number;

  constructor(options: NodeOptions, timeoutMs: number) {
    // What the client sends while it is made comes before this class's own fields.
    super({ ...options, lazyConnect: true });
    this.#timeoutMs = timeoutMs;
    this.connect().catch(() => undefined);
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    boundCommand(args[0], this.#timeoutMs);
    return super.sendCommand(...args);
  }
}

/** BoundedCluster is responsible for the same with a cluster, whose client keeps commands while it has no node for them or no slot map. */
export class BoundedCluster extends Cluster {
  readonly #timeoutMs: number;

  constructor(nodes: ClusterNode[], options: ClusterOptions, timeoutMs: number) {
    super(nodes, { ...options, lazyConnect: true });
    this.#timeoutMs = timeoutMs;
    this.connect().catch(() => undefined);
  }

  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    boundCommand(args[0], this.#timeoutMs);
    return super.sendCommand(...args);
  }

  override delayUntilReady(callback: Parameters<Cluster['delayUntilReady']>[0]): void {
    let isCalled = false;
    const call = (error?: Error | null): void => {
      stop();
      if (!isCalled) callback(error);
      isCalled = true;
    };
    const stop = startDeadline(this.#timeoutMs, () => call(timedOut()));
    super.delayUntilReady(call);
  }
}

/** Commands that a redirection sends again. */
const bounded = new WeakSet<Command>();

function boundCommand(command: Command, timeoutMs: number): void {
  if (bounded.has(command)) return;
  bounded.add(command);
  const stop = startDeadline(timeoutMs, () => command.reject(timedOut()));
  command.promise.then(stop, stop);
}

function timedOut(): Error {
  return new Error('Command timed out');
}
