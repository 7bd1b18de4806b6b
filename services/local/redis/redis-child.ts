import { readFileSync } from 'node:fs';
import { MusterError } from '#shared/errors/index.ts';
import type { Log } from '#shared/log/index.ts';
import { LATE, wait, within } from '#shared/time/index.ts';
import {
  type LocalRedisAddress,
  portAddress,
  readRedisRecord,
  redisCommand,
  type RedisProgram,
  redisUrl,
  removeRedisRecord,
  socketAddress,
  writeRedisRecord,
} from './redis-program.ts';
import { adoptRedis, probeRedis, type RedisProcess, spawnRedis } from './redis-process.ts';

export interface RedisChildOptions {
  /** The folder of its data, in which this process must be the only fleet. */
  directory: string;
  logFile: string;
  program: RedisProgram;
  log: Log;
  /** A Redis without an answer for so long counts as broken. Defaults to 15 s; the time in which it loads data does not count. */
  silenceMs?: number;
}

const POLL_MS = 25;
const LOADING_NOTE_MS = 5000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5000;
/** A Redis that ran for so long before it died resets the backoff. */
const HEALTHY_MS = 30_000;
const KILL_MS = 2000;

/**
 * RedisChild is responsible for one Redis per data directory while the fleet runs. It takes over the Redis that a killed
 * fleet left or starts one, restarts it when it dies, and ends it with the fleet.
 */
export class RedisChild {
  readonly #options: RedisChildOptions;
  readonly #stopping = new AbortController();
  #address: LocalRedisAddress | null = null;
  #process: RedisProcess | null = null;
  #watching: Promise<void> = Promise.resolve();

  constructor(options: RedisChildOptions) {
    this.#options = options;
  }

  /** The `REDIS_URL` of this Redis, which restarts do not change. */
  get url(): string {
    if (!this.#address) throw new Error('The Redis child was not started');
    return redisUrl(this.#address);
  }

  /** Null until it is started. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Resolves once it answers. Throws `unavailable.redis` with the end of its log when it does not start. */
  async start(): Promise<void> {
    if (!(await this.#adopt())) {
      this.#address = await this.#chooseAddress();
      await this.#launch(this.#address);
    }
    this.#watching = this.#watch();
  }

  /** Ends it, by a kill after `graceMs`. Never rejects. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#end(graceMs);
    await this.#watching;
    // A restart may have begun before the stop.
    await this.#end(graceMs);
    removeRedisRecord(this.#options.directory);
  }

  /** Ends it without waiting, for a process that exits at once. */
  abandon(): void {
    this.#stopping.abort();
    this.#process?.signal('SIGTERM');
  }

  async #chooseAddress(): Promise<LocalRedisAddress> {
    const socket = this.#options.program.kind === 'server' ? socketAddress(this.#options.directory) : null;
    return socket ?? portAddress();
  }

  /** Two servers would damage one append-only file, so a running one is taken over, or ended when it does not answer. */
  async #adopt(): Promise<boolean> {
    const { directory, log } = this.#options;
    const record = readRedisRecord(directory);
    const address = record?.address ?? socketAddress(directory);
    if (!address) return false;
    const found = record ? adoptRedis(record.pid, record.startedAt) : await this.#adoptUnrecorded(address);
    if (!found) return false;
    this.#process = found;
    if (!(await this.#isUp(found, address))) {
      log.warn({ event: 'redis.silent', pid: found.pid }, 'The Redis of a killed fleet does not answer and is ended');
      await this.#end(KILL_MS);
      return false;
    }
    this.#address = address;
    writeRedisRecord(directory, { pid: found.pid, startedAt: found.startedAt, address });
    log.info({ event: 'redis.adopted', pid: found.pid }, 'Took over the Redis of a killed fleet');
    return true;
  }

  /** A fleet that was killed before it recorded its Redis left a socket, and the server behind it reports its process. */
  async #adoptUnrecorded(address: LocalRedisAddress): Promise<RedisProcess | null> {
    const { pid } = await probeRedis(address);
    return pid === null ? null : adoptRedis(pid);
  }

  async #launch(address: LocalRedisAddress): Promise<void> {
    const { directory, logFile, program, log } = this.#options;
    const started = await spawnRedis(redisCommand(program, address, directory), logFile);
    this.#process = started;
    writeRedisRecord(directory, { pid: started.pid, startedAt: started.startedAt, address });
    if (await this.#isUp(started, address)) {
      log.info({ event: 'redis.started', pid: started.pid }, 'Redis is ready');
      return;
    }
    await this.#end(KILL_MS);
    throw new MusterError('unavailable.redis', `Redis did not start. The end of ${logFile}:\n${lastLines(logFile)}`, {
      details: { logFile },
    });
  }

  /** Waits until it answers; false when it ends first, stays silent for too long, or the fleet stops. */
  async #isUp(server: RedisProcess, address: LocalRedisAddress): Promise<boolean> {
    const over = new AbortController();
    void server.exited.then(() => over.abort());
    const signal = AbortSignal.any([over.signal, this.#stopping.signal]);
    let answeredAt = performance.now();
    let notedAt = answeredAt;
    while (!signal.aborted) {
      const { state } = await probeRedis(address);
      if (state === 'ready') return true;
      const now = performance.now();
      if (state === 'loading') answeredAt = now;
      if (now - answeredAt > (this.#options.silenceMs ?? 15_000)) return false;
      if (state === 'loading' && now - notedAt > LOADING_NOTE_MS) {
        notedAt = now;
        this.#options.log.info({ event: 'redis.loading' }, 'Redis is reading its data');
      }
      await wait(POLL_MS, signal);
    }
    return false;
  }

  async #watch(): Promise<void> {
    const { log } = this.#options;
    let delayMs = FIRST_RESTART_MS;
    while (!this.#stopping.signal.aborted) {
      const since = performance.now();
      await this.#process?.exited;
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - since > HEALTHY_MS) delayMs = FIRST_RESTART_MS;
      log.error({ event: 'redis.died', restartInMs: delayMs }, 'Redis ended by itself and will be restarted');
      await wait(delayMs, this.#stopping.signal);
      delayMs = Math.min(delayMs * 2, LONGEST_RESTART_MS);
      await this.#restart();
    }
  }

  /** A failed start leaves an ended process, which `#watch` sees next. */
  async #restart(): Promise<void> {
    if (this.#stopping.signal.aborted || !this.#address) return;
    try {
      await this.#launch(this.#address);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error({ event: 'redis.restart-failed', err: error }, 'Redis could not be restarted');
    }
  }

  async #end(graceMs: number): Promise<void> {
    const server = this.#process;
    if (!server) return;
    server.signal('SIGTERM');
    if ((await within(server.exited, graceMs)) !== LATE) return;
    server.signal('SIGKILL');
    await within(server.exited, KILL_MS);
  }
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
  } catch {
    return '(it cannot be read)';
  }
}
