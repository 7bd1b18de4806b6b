import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithParent } from '../runner/end-with-parent.ts';
import { freePort } from '../free-port.ts';
import { answersPing, REDIS_DEFAULTS, type RedisServer, type StartRedisOptions } from './redis-server.ts';
import { testEnvironment } from '../test-environment.ts';
import { waitFor } from '../wait-for.ts';

/** Loading an append-only file of a bench takes a few seconds. */
const START_MS = 15_000;

/** How often another port is tried when somebody took the free one first. */
const PORT_TRIES = 5;

/** Starts `redis-server` as a child on the loopback address. */
export async function startRedisProcess(options: StartRedisOptions): Promise<RedisServer> {
  for (let attempt = 1; ; attempt += 1) {
    // A server that is stopped removes its directory, so each try has its own.
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'muster-redis-')));
    const port = options.port ?? (await freePort());
    const server = new RedisProcess(port, dataDir, options);
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      if (options.port !== undefined || attempt === PORT_TRIES || !String(error).includes('Address already in use')) throw error;
    }
  }
}

class RedisProcess implements RedisServer {
  readonly url: string;
  readonly port: number;
  readonly #dataDir: string;
  readonly #options: StartRedisOptions;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(port: number, dataDir: string, options: StartRedisOptions) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
    this.#dataDir = dataDir;
    this.#options = options;
  }

  /** The folder of its data when nobody else owns that. */
  get #ownDir(): string | undefined {
    return this.#options.dataDir === undefined ? this.#dataDir : undefined;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('This Redis does not run');
    return pid;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT') await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#dataDir];
    const child = spawn(testEnvironment.redisServer, [...own, ...REDIS_DEFAULTS, ...(this.#options.args ?? [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#output = '';
    const keep = (chunk: Buffer): void => {
      this.#output = `${this.#output}${chunk.toString()}`.slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    await once(child, 'spawn').catch((cause: unknown) => {
      throw new Error(`${testEnvironment.redisServer} is not on this machine: install Redis, or set REDIS_SERVER or REDIS_IMAGE`, {
        cause,
      });
    });
    endWithParent(child, this.#ownDir);
    // Its own word comes before the PING: another server that has the port would answer just as well.
    const isReady = (): boolean => hasEnded(child) || this.#output.includes('Ready to accept connections');
    await waitFor(isReady, { deadlineMs: START_MS, everyMs: 5, what: 'redis-server to start' });
    if (hasEnded(child)) throw new Error(`${testEnvironment.redisServer} did not start on port ${this.port}:\n${this.#output}`);
    await waitFor(() => answersPing('127.0.0.1', this.port), { deadlineMs: START_MS, everyMs: 5, what: 'redis-server to answer' });
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.#ownDir !== undefined) await rm(this.#ownDir, { recursive: true, force: true });
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
