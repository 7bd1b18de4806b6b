import type { SettingsInput } from '#shared/config/settings/settings.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { openTestParts } from '../../support/open-test-parts.ts';

export const BENCH_QUEUE_SLOTS = 50;

export interface FleetOptions extends Omit<SettingsInput, 'agents'> {
  /** More of the definition of the agent `nothing`. */
  agent?: { maxRunning?: number };
}

/** Muster in one process: accepting, and a worker whose agent does nothing. */
export class OurFleet {
  readonly parts: Parts;
  readonly #starts = new Map<string, (at: number) => void>();
  #ran = 0;
  #onRan: (() => void) | undefined;

  static async open(
    redisUrl: string,
    { limits, agent = {}, ...settings }: FleetOptions = {},
    env: Record<string, string> = {},
  ): Promise<OurFleet> {
    const hook: { ran?: (id: string) => void } = {};
    const run = (task: { id: string }): Promise<string> => {
      hook.ran?.(task.id);
      return Promise.resolve('done');
    };
    const parts = await openTestParts({
      redisUrl,
      settings: {
        ...settings,
        agents: { nothing: { ...agent, kind: 'function', run } },
        limits: { ...limits, httpPerMinute: 100_000_000 },
      },
      env: { MUSTER_QUEUES: `tasks=${BENCH_QUEUE_SLOTS}`, ...env },
    });
    const fleet = new OurFleet(parts);
    hook.ran = (id) => fleet.#started(id);
    return fleet;
  }

  private constructor(parts: Parts) {
    this.parts = parts;
  }

  async accept(session?: string, id = newTaskId()): Promise<void> {
    await this.acceptAs({ id, ...(session === undefined ? {} : { session }) });
  }

  /** Accepts a task that is not an ordinary one. */
  async acceptAs(request: Partial<AcceptRequest>): Promise<void> {
    await acceptTask(this.parts, { tenant: 'default', agent: 'nothing', input: 'x', ...request });
  }

  /** Runs a worker until `count` tasks have ended. Returns how long that took, ms, without the worker's start, which comes once a deploy. */
  async process(count: number, slots = BENCH_QUEUE_SLOTS): Promise<number> {
    const { config } = this.parts;
    const env = { ...config.env, MUSTER_QUEUES: `tasks=${slots}` };
    const worker = createWorkerService({ ...this.parts, config: { ...config, env } });
    this.#ran = 0;
    const all = new Promise<void>((resolve) => {
      this.#onRan = () => {
        if (this.#ran === count) resolve();
      };
    });
    await worker.start();
    const startedAt = performance.now();
    await all;
    await worker.stop(10_000);
    return performance.now() - startedAt;
  }

  /** Milliseconds from calling accept to the start of the agent, one task at a time on an idle fleet. */
  async latencies(count: number): Promise<number[]> {
    const worker = createWorkerService(this.parts);
    await worker.start();
    const all: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const id = newTaskId();
      // It may start before whoever asked has the answer.
      const start = new Promise<number>((resolve) => this.#starts.set(id, resolve));
      const asked = performance.now();
      await this.accept(undefined, id);
      all.push((await start) - asked);
    }
    await worker.stop(10_000);
    return all;
  }

  #started(id: string): void {
    this.#ran += 1;
    this.#starts.get(id)?.(performance.now());
    this.#starts.delete(id);
    this.#onRan?.();
  }
}
