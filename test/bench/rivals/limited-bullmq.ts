import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { waitFor } from '../../support/wait-for.ts';

export interface LimitedBullmqOptions {
  /** Of Redis. */
  url: string;
  /** Of the provider. */
  baseUrl: string;
  workers: number;
  /** Jobs that each worker runs at once. */
  slots: number;
  limiter: { max: number; duration: number };
  /** Output that a call may have at most; by default it says nothing of it. */
  maxTokens?: number;
}

/** LimitedBullmq is responsible for calling a provider as people do by hand: a queue with BullMQ's limiter, and three attempts. */
export class LimitedBullmq {
  readonly #connection: Redis;
  readonly #queue: Queue;
  readonly #workers: Worker[];
  readonly #ended = { completed: 0, failed: 0 };

  constructor({ url, baseUrl, workers, slots, limiter, maxTokens }: LimitedBullmqOptions) {
    this.#connection = new Redis(url, { maxRetriesPerRequest: null });
    this.#connection.setMaxListeners(0);
    const options = { connection: this.#connection, prefix: 'limited' };
    this.#queue = new Queue('calls', options);
    this.#workers = Array.from(
      { length: workers },
      () => new Worker('calls', ({ name }) => callModel(baseUrl, { prompt: name, maxTokens }), { ...options, concurrency: slots, limiter }),
    );
    for (const worker of this.#workers) {
      worker.on('completed', () => (this.#ended.completed += 1));
      worker.on('failed', (job) => (this.#ended.failed += job?.finishedOn === undefined ? 0 : 1));
    }
  }

  /** Runs a job for each prompt to their end, at most for so long. */
  async process(prompts: readonly string[], deadlineMs: number): Promise<{ completed: number; failed: number }> {
    const before = { ...this.#ended };
    const opts = { attempts: 3, backoff: { type: 'exponential', delay: 500 }, removeOnComplete: true, removeOnFail: true };
    await this.#queue.addBulk(prompts.map((name) => ({ name, data: {}, opts })));
    const since = (): { completed: number; failed: number } => ({
      completed: this.#ended.completed - before.completed,
      failed: this.#ended.failed - before.failed,
    });
    const isDone = (): boolean => since().completed + since().failed === prompts.length;
    await waitFor(isDone, { deadlineMs, what: `the end of ${prompts.length} jobs` });
    return since();
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close(true)));
    await this.#queue.close();
    this.#connection.disconnect();
  }
}

async function callModel(baseUrl: string, { prompt, maxTokens }: { prompt: string; maxTokens: number | undefined }): Promise<string> {
  const body = JSON.stringify({ model: 'simulated', max_tokens: maxTokens, messages: [{ role: 'user', content: prompt }] });
  const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`The provider answered ${answer.status}`);
  return await answer.text();
}
