import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { childEnvironment } from '../../support/test-environment.ts';

export interface HttpServiceOptions {
  file: string;
  args?: readonly string[];
  env?: Record<string, string>;
  key: string;
  connections: number;
}

/** HttpService is responsible for a service as a process of its own, and for a client that keeps its connections. */
export class HttpService {
  readonly url: string;
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #stop: () => Promise<void>;

  /** Starts a program that writes a line with its port once it is ready. */
  static async start({ file, args = [], env = {}, key, connections }: HttpServiceOptions): Promise<HttpService> {
    const child = spawn(process.execPath, [file, ...args], { env: childEnvironment(env), stdio: ['ignore', 'pipe', 'inherit'] });
    const killWithUs = (): boolean => child.kill();
    process.once('exit', killWithUs);
    const port = await portOf(child.stdout);
    // Read and dropped: parsing its log would be the client's work.
    child.stdout.resume();
    const stop = async (): Promise<void> => {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
      process.off('exit', killWithUs);
    };
    return new HttpService(`http://127.0.0.1:${port}`, { key, connections }, stop);
  }

  private constructor(url: string, { key, connections }: Pick<HttpServiceOptions, 'key' | 'connections'>, stop: () => Promise<void>) {
    this.url = url;
    this.#pool = new Pool(url, { connections });
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    this.#stop = stop;
  }

  async accept(): Promise<void> {
    await this.#post('/v1/tasks', { agent: 'echo', input: 'Summarize yesterday' }, 202);
  }

  async acceptMany(count: number): Promise<void> {
    const items = Array.from({ length: count }, () => ({ agent: 'echo', input: 'Summarize yesterday' }));
    await this.#post('/v1/tasks/bulk', { items }, 200);
  }

  async #post(path: string, value: unknown, expected: number): Promise<void> {
    const response = await this.#pool.request({ path, method: 'POST', headers: this.#headers, body: JSON.stringify(value) });
    const text = await response.body.text();
    if (response.statusCode !== expected) throw new Error(`POST ${path} answered ${response.statusCode}: ${text}`);
  }

  async stop(): Promise<void> {
    await this.#pool.close();
    await this.#stop();
  }
}

async function portOf(stdout: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: stdout })) {
    const port = /"event":"service.ready".*"port":(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('The service ended before it was ready');
}
