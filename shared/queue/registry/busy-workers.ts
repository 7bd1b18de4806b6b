import { type Ledger, listRunning, type RunningTask } from '../../ledger/index.ts';
import { workerOf } from '../../tasks/index.ts';
import { listWorkers, readWorker, type WorkerRecord } from './worker-registry.ts';

/** All workers, as `listWorkers`, with what they run now. */
export async function listBusyWorkers(ledger: Ledger): Promise<WorkerRecord[]> {
  const [workers, running] = await Promise.all([listWorkers(ledger), listAllRunning(ledger)]);
  return workers.map((worker) => withRunning(worker, running));
}

/** One worker, with what it runs now; null for an unknown one. */
export async function readBusyWorker(ledger: Ledger, id: string): Promise<WorkerRecord | null> {
  const [worker, running] = await Promise.all([readWorker(ledger, id), listAllRunning(ledger)]);
  return worker && withRunning(worker, running);
}

async function listAllRunning(ledger: Ledger): Promise<RunningTask[]> {
  const shards = Array.from({ length: ledger.keys.shards }, (_, shard) => listRunning(ledger, shard));
  return (await Promise.all(shards)).flat();
}

/**
 * A worker with what it runs by the leases, as claims, `why` and the queues count it: what its heartbeat says is some seconds old. A worker of a
 * release that reports nothing of it stays as it is.
 */
export function withRunning(worker: WorkerRecord, running: readonly RunningTask[]): WorkerRecord {
  if (worker.running === null) return worker;
  const own = running.filter(({ state }) => state.worker !== undefined && workerOf(state.worker) === worker.id);
  const suspects = own.filter(({ state }) => state.worker !== worker.id).length;
  const isTaking = worker.status === 'idle' || worker.status === 'busy';
  const status = own.length > 0 ? 'busy' : 'idle';
  return { ...worker, running: own.length, suspects, status: isTaking ? status : worker.status };
}
