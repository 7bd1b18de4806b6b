import { MusterError } from '../../errors/index.ts';
import { LATE, within, withinAttentive } from '../../time/index.ts';
import { isRedisUnavailable } from '../availability.ts';
import { COMMAND_TIMEOUT_MS, type RedisClient } from '../connect-redis.ts';
import type { Keys } from '../keys.ts';

interface FsyncBarrierOptions {
  /** Opens a connection on which only this waits. */
  open: () => RedisClient;
  keys: Keys;
  /** How long Redis may take to have it on its disk. */
  timeoutMs: number;
}

/** One that waits can do nothing else, and with `appendfsync everysec` it waits for up to a second. */
const CONNECTIONS = 4;
/** Calls that come within so long share a wait, while another one is under way. */
const GATHER_MS = 250;
/** What a wait writes is needed no longer. */
const WRITTEN_MS = 60_000;
/** The answer to a wait comes so much later than its end, at most. */
const ANSWER_MS = 500;

interface Pass {
  mark: number;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** What waits for one server. */
interface Lane {
  shard: number;
  waiting: Pass[];
  busy: Set<RedisClient>;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * FsyncBarrier is responsible for what was written being in the append-only file on the disk of Redis, so that it outlives a loss of power. It writes by
 * itself and waits for that by `WAITAOF`: the file is in order, so that all from before is there, too. Calls that meet share one wait.
 */
export class FsyncBarrier {
  readonly #options: FsyncBarrierOptions;
  readonly #connections: RedisClient[] = [];
  readonly #lanes = new Map<string, Lane>();
  #opening: Promise<unknown> | null = null;
  /** Counts what was lost of the connections: behind one, another server may answer, or one that has lost what was written. */
  #losses = 0;

  constructor(options: FsyncBarrierOptions) {
    this.#options = options;
  }

  /** To be called before the write, for `pass` after it. */
  async mark(): Promise<number> {
    if (this.#connections.length === 0) this.#open();
    if (this.#connections.some(({ status }) => status !== 'ready')) {
      this.#opening ??= Promise.all(this.#connections.map(untilReady)).finally(() => (this.#opening = null));
      if ((await within(this.#opening, COMMAND_TIMEOUT_MS)) === LATE) throw new Error('Command timed out');
    }
    return this.#losses;
  }

  /**
   * Resolves once all that was written since `mark` to this shard is on disk. Rejects with `unavailable.fsync`, or as any command, when that is
   * not known: it may be there.
   */
  async pass(mark: number, shard: number): Promise<void> {
    const lane = this.#laneOf(shard);
    await new Promise<void>((resolve, reject) => {
      lane.waiting.push({ mark, resolve, reject });
      this.#advance(lane);
    });
  }

  close(): void {
    for (const { timer } of this.#lanes.values()) clearTimeout(timer);
    for (const client of this.#connections) client.disconnect();
  }

  #open(): void {
    const count = (): void => {
      this.#losses += 1;
    };
    for (let opened = 0; opened < CONNECTIONS; opened += 1) {
      const client = this.#options.open();
      client.on('close', count);
      // Of a cluster, whose connections to nodes are its own.
      client.on('node error', count);
      client.on('-node', count);
      this.#connections.push(client);
    }
  }

  #laneOf(shard: number): Lane {
    const known = this.#lanes.get(`${shard}`);
    if (known) return known;
    const lane: Lane = { shard, waiting: [], busy: new Set(), startedAt: 0, timer: undefined };
    this.#lanes.set(`${shard}`, lane);
    return lane;
  }

  /** Starts the next wait when no other one is under way, or that one for long enough. */
  #advance(lane: Lane): void {
    const free = this.#connections.find((client) => !lane.busy.has(client));
    if (lane.waiting.length === 0 || free === undefined) return;
    const gatherMs = lane.busy.size === 0 ? 0 : lane.startedAt + GATHER_MS - performance.now();
    if (gatherMs <= 0) return void this.#start(lane, free);
    lane.timer ??= setTimeout(() => {
      lane.timer = undefined;
      this.#advance(lane);
    }, gatherMs);
  }

  async #start(lane: Lane, client: RedisClient): Promise<void> {
    const passes = lane.waiting.splice(0);
    lane.busy.add(client);
    lane.startedAt = performance.now();
    try {
      await this.#confirm(client, lane.shard);
      for (const { mark, resolve, reject } of passes) {
        if (mark === this.#losses) resolve();
        else reject(unconfirmed('its connection was lost'));
      }
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      for (const { reject } of passes) reject(failure);
    } finally {
      lane.busy.delete(client);
      this.#advance(lane);
    }
  }

  async #confirm(client: RedisClient, shard: number): Promise<void> {
    const { keys, timeoutMs } = this.#options;
    // The key leads a cluster's client to the node, for both.
    const commands = client.pipeline().set(keys.shard(shard).probe, '', 'PX', WRITTEN_MS).call('WAITAOF', 1, 0, timeoutMs);
    const answers = await withinAttentive(commands.exec(), timeoutMs + ANSWER_MS);
    if (answers === LATE) {
      client.disconnect(true);
      throw unconfirmed(`it did not answer within ${timeoutMs + ANSWER_MS} ms`);
    }
    const [error] = (answers ?? []).flatMap(([each]) => each ?? []);
    if (error) throw isRedisUnavailable(error) ? error : unconfirmed(error.message);
    const reply: unknown = answers?.[1]?.[1];
    if (!Array.isArray(reply) || Number(reply[0]) < 1) throw unconfirmed(`its disk took longer than ${timeoutMs} ms`);
  }
}

function untilReady(client: RedisClient): Promise<unknown> {
  return client.status === 'ready' ? Promise.resolve() : new Promise((resolve) => client.once('ready', resolve));
}

function unconfirmed(reason: string): MusterError {
  const text = `Redis did not confirm that this is on its disk: ${reason}. It may have been accepted; send it again with the same key.`;
  return new MusterError('unavailable.fsync', text, { details: { reason } });
}
