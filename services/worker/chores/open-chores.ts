import type { Parts } from '#shared/lifecycle/index.ts';
import { ChoreJobs, ChoreRunner, handlersFor, type JobSource, restartChoreJobs, slotsOf } from '#shared/queue/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { type WorkerChoresOptions, workerChores } from './worker-chores.ts';

/** The chores of a worker. */
export interface OpenChores {
  runner: ChoreRunner;
  /** Opens those that are repeatable jobs, on a worker that serves the queue `maintenance`. Called once. */
  openJobs: (source: JobSource) => ChoreJobs[];
}

/** Opens what a worker does again and again. Throws `config.invalid` when a chore of the list has no handler. */
export function openChores(parts: Parts, options: Omit<WorkerChoresOptions, 'restartJobs'>): OpenChores {
  const { config, redis, keys, log, throttle } = parts;
  const { settings, env } = config;
  const restartJobs = async (): Promise<void> => await restartChoreJobs(parts.queues.get(0, 'maintenance'), settings);
  const handlers = handlersFor('worker', workerChores(parts, { ...options, restartJobs }));
  const runner = new ChoreRunner({ redis, keys, settings, service: 'worker', handlers, process: options.worker, clock: systemClock, log });
  throttle.notify(() => runner.wake('release-providers', settings.throttle.pumpMs));
  return {
    runner,
    openJobs: (source) => {
      if (!slotsOf(settings, env.MUSTER_QUEUES).get('maintenance')) return [];
      return [new ChoreJobs({ runner, source })];
    },
  };
}
