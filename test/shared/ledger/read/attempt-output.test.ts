import { expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { appendOutput, readAttemptOutput } from '#shared/ledger/read/run-log.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts({ agents: { worker: { kind: 'echo' } } });

it('the output of an attempt ends before its first gap, which what is sent again fills', async () => {
  const { ledger } = parts;
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
  const claim = await claimTask(ledger, { tenant: 'default', id, lane: null }, 'former');
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const { token, startedAt } = claim.state;
  const read = (): ReturnType<typeof readAttemptOutput> => readAttemptOutput(ledger, { tenant: 'default', id, startedAt: startedAt ?? 0 });
  const append = async (...seqs: number[]): Promise<void> => {
    for (const seq of seqs) await appendOutput(ledger, { tenant: 'default', id, lane: null, token }, { attempt: 1, seq, text: `${seq} ` });
  };
  // Its beginning is gone.
  await append(2);
  expect(await read()).toEqual({ text: '', seq: 0 });
  await append(1, 2, 4, 5);
  expect(await read()).toEqual({ text: '1 2 ', seq: 2 });
  await append(3, 4);
  expect(await read()).toEqual({ text: '1 2 3 4 ', seq: 4 });
});
