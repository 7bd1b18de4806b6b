import { randomUUID } from 'node:crypto';
import type { ContainerRuntimeClient, StartedTestContainer } from 'testcontainers';
import { freePort } from '../free-port.ts';
import { answersPing, REDIS_DEFAULTS, type RedisServer, type StartRedisOptions } from './redis-server.ts';
import { disableContainerReaper } from '../test-environment.ts';
import { waitFor } from '../wait-for.ts';

/** Creating a container on a busy machine, and then its first answer. */
const START_MS = 60_000;
const ANSWER_MS = 10_000;

/** The label that identifies the container of a test. */
const LABEL = 'muster.test-redis';

/** Whether a container engine answers on this machine. */
export async function containerRuntimeAnswers(): Promise<boolean> {
  return runtimeClient().then(
    () => true,
    () => false,
  );
}

/** Starts Redis from an image that the engine has or can pull, at a fixed port of this machine, so that it can be restarted there. */
export async function startRedisContainer(image: string, options: StartRedisOptions): Promise<RedisServer> {
  const runtime = await runtimeClient();
  const { GenericContainer, Wait } = await import('testcontainers');
  const port = options.port ?? (await freePort());
  const name = randomUUID();
  try {
    const container = await new GenericContainer(image)
      .withExposedPorts({ container: 6379, host: port })
      // From inside the container this machine is not the loopback address, which is all that protected mode lets in.
      .withCommand(['redis-server', '--protected-mode', 'no', ...REDIS_DEFAULTS, ...(options.args ?? [])])
      .withBindMounts(options.dataDir === undefined ? [] : [{ source: options.dataDir, target: '/data' }])
      .withLabels({ [LABEL]: name })
      .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
      .withStartupTimeout(START_MS)
      .start();
    const server = new RedisContainer(runtime, container, port);
    await server.untilItAnswers();
    return server;
  } catch (error) {
    // The library leaves a container behind that was created but cannot start, as on a port that is taken.
    const left = await runtime.container.fetchByLabel(LABEL, name, { status: ['created', 'running', 'exited'] });
    await left?.remove({ force: true, v: true });
    throw error;
  }
}

/** Imported on use, because the library takes a good part of a second to load. */
async function runtimeClient(): Promise<ContainerRuntimeClient> {
  disableContainerReaper();
  const { getContainerRuntimeClient } = await import('testcontainers');
  return getContainerRuntimeClient();
}

class RedisContainer implements RedisServer {
  readonly url: string;
  readonly port: number;
  readonly #runtime: ContainerRuntimeClient;
  readonly #started: StartedTestContainer;
  #pid = 0;
  #isStopped = false;

  constructor(runtime: ContainerRuntimeClient, started: StartedTestContainer, port: number) {
    this.#runtime = runtime;
    this.#started = started;
    this.port = port;
    this.url = `redis://${started.getHost()}:${port}`;
  }

  get pid(): number {
    return this.#pid;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const container = this.#runtime.container.getById(this.#started.getId());
    const { State } = await container.inspect();
    if (!State.Running) return;
    await container.kill({ signal });
    if (signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT') await container.wait();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#runtime.container.getById(this.#started.getId()).start();
    await this.untilItAnswers();
  }

  async untilItAnswers(): Promise<void> {
    const host = this.#started.getHost();
    await waitFor(() => answersPing(host, this.port), { deadlineMs: ANSWER_MS, what: `Redis to answer at ${this.url}` });
    const { State } = await this.#runtime.container.getById(this.#started.getId()).inspect();
    this.#pid = State.Pid;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#started.stop({ timeout: 0, remove: true, removeVolumes: true });
  }
}
