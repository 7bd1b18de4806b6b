import { secretVariables } from '#shared/config/index.ts';
import { expireOfProcess, routeOfLoss } from '#shared/execution/index.ts';
import { readState } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isolatedName } from '#shared/tasks/index.ts';
import { IsolatedProcess } from './isolated-process.ts';
import { IsolationPool } from './isolation-pool.ts';

interface PoolOptions {
  worker: string;
  onWaiting: () => void;
  /** Called after a process of the pool was lost. */
  onLost: () => Promise<void>;
}

/** Opens the processes that run suspects isolated. */
export function openPool(parts: Parts, { worker, onWaiting, onLost }: PoolOptions): IsolationPool {
  const { config, ledger, log } = parts;
  const names = secretVariables(config.settings.agents);
  const secrets = names.flatMap((name) => [config.readVariable(name)].flatMap((value) => (value === undefined ? [] : [[name, value]])));
  const variables = { ...Object.fromEntries(secrets), REDIS_URL: config.env.REDIS_URL };
  const heapMb = config.settings.worker.isolatedHeapMb;
  return new IsolationPool({
    settings: config.settings,
    open: (number) => new IsolatedProcess({ worker: isolatedName(worker, number), variables, heapMb, onWaiting, log }),
    expire: async ({ tenant, task: id }, lost) => {
      const state = await readState(ledger, tenant, id);
      // Else it was settled or expired before the process ended.
      if (state?.status !== 'running' || state.worker !== lost.worker) return false;
      const attempt = { tenant, id, token: state.token, lane: state.lane ?? null };
      const route = await routeOfLoss(parts, tenant, state);
      await expireOfProcess(ledger, attempt, { ...lost, ...route, isGone: true });
      onWaiting();
      await onLost();
      return true;
    },
    log,
  });
}
