import { appendOutput } from '#shared/ledger/read/run-log.ts';
import type { AttemptRef } from '#shared/ledger/claim/leases.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';

export interface TaskDriver {
  /** Claims the task and begins its attempt. */
  start(id: string): Promise<AttemptRef>;
  write(attempt: AttemptRef, number: number, seq: number, text: string): Promise<void>;
  end(attempt: AttemptRef, output: string): Promise<void>;
  complete(id: string, output: string): Promise<void>;
  /** Fails an attempt; for good when there is no delay. */
  fail(id: string, delayMs: number | null, code?: string): Promise<void>;
  /** Puts it back until a provider takes requests again. */
  throttle(id: string, delayMs: number): Promise<void>;
}

/** Does to tasks what a worker does, step by step. */
export function driveTasks({ ledger }: Parts, tenant = 'default', worker = 'worker-1'): TaskDriver {
  const start = async (id: string): Promise<AttemptRef> => {
    const task = await readTask(ledger, tenant, id);
    const lane = task?.state.lane ?? null;
    const claim = await claimTask(ledger, { tenant, id, lane }, worker);
    if (claim.kind !== 'claimed') throw new Error(`${id} cannot be claimed: ${claim.kind}`);
    return { tenant, id, lane, token: claim.state.token };
  };
  const end = async (attempt: AttemptRef, output: string): Promise<void> => {
    await settleAttempt(ledger, attempt, { kind: 'completed', output, result: '{"list":[]}', usage: null });
  };
  return {
    start,
    end,
    write: async (attempt, number, seq, text) => {
      await appendOutput(ledger, attempt, { attempt: number, seq, text });
    },
    complete: async (id, output) => end(await start(id), output),
    fail: async (id, delayMs, code = 'NETWORK_ERROR') => {
      const error = { code, message: 'the line was cut', retryable: delayMs !== null };
      await settleAttempt(ledger, await start(id), { kind: 'failed', error, delayMs, usage: null });
    },
    throttle: async (id, delayMs) => {
      await settleAttempt(ledger, await start(id), { kind: 'interrupted', reason: 'throttled', delayMs });
    },
  };
}
