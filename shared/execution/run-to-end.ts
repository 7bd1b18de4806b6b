import { type AttemptEnd, cutTree, leaseMember, type Ledger, readCut } from '../ledger/index.ts';
import { describeChain, type TicketResult } from '../queue/index.ts';
import { applyDirectives, type ApplyDirectivesParts } from './apply-directives.ts';
import { classifyEnd } from './classify-error.ts';
import type { Execution } from './execution.ts';
import { runAttempt, type RunAttemptParts } from './run-attempt.ts';
import { settleAndReport, type SettleParts } from './settle-attempt.ts';
import { withoutTurnBack } from './turned-back.ts';

export interface RunToEndParts extends RunAttemptParts, ApplyDirectivesParts, SettleParts {}

/** Takes a claimed attempt to its end: run, directives, cost, settle, report. Returns what its ticket becomes. */
export async function runToEnd(parts: RunToEndParts, execution: Execution): Promise<TicketResult> {
  const { span } = execution;
  const { traces } = parts.ledger;
  const work = (): Promise<TicketResult> => takeToEnd(parts, execution);
  if (span) return await span.run(work);
  // The slot may have been freed by an attempt that is one.
  return await (traces ? traces.outside(work) : work());
}

async function takeToEnd(parts: RunToEndParts, execution: Execution): Promise<TicketResult> {
  const { attempt, usage, models, spend, tokens } = execution;
  try {
    const ended = await withDirectives(parts, execution, await runAttempt(parts, execution));
    if (attempt.stopped?.kind === 'detached') return detach(parts, execution, attempt.stopped);
    if (ended.kind === 'completed') await execution.output.completed(ended.output);
    const end = withoutTurnBack({ ...ended, ...usage.total, ...models.substituted }, execution);
    if (spend.isCounted || tokens.isCounted) await countCost(execution, end);
    const settling = settleAndReport(parts, execution, await cutRunaway(parts.ledger, execution, end));
    if (end.kind !== 'completed') return await settling;
    // A completed attempt needs its ticket no more, whatever the ledger answers, so BullMQ completes the ticket at the same time. Should
    // this process die in between, the lease runs out and the task gets another ticket.
    settling.catch((error: unknown) => giveUp(parts, execution, error));
    return { kind: 'done', note: 'completed', ended: leaseMember(attempt.ref) };
  } catch (error) {
    giveUp(parts, execution, error);
    throw error;
  }
}

/** A defect of this program. The keeper would go on renewing the lease; once it has run out, the task continues elsewhere. */
function giveUp({ keeper }: RunToEndParts, { attempt, log, span }: Execution, error: unknown): void {
  keeper.abandon(attempt);
  span?.fail('INTERNAL');
  span?.end();
  log.error({ event: 'attempt.given-up', err: error }, 'an attempt could not be settled');
}

/** Applies the directives of an answer. An attempt that is stopped meanwhile has not answered: the next one applies them. */
async function withDirectives(parts: RunToEndParts, execution: Execution, end: AttemptEnd): Promise<AttemptEnd> {
  if (end.kind !== 'completed') return end;
  try {
    return { ...end, output: await applyDirectives(parts, execution, end.output) };
  } catch (error) {
    if (!execution.attempt.stopped) throw error;
    return await classifyEnd(parts, execution, error);
  }
}

/** The attempt goes on under its lease at another hub, or will. */
function detach({ keeper }: RunToEndParts, { attempt, log }: Execution, { isAdopted }: { isAdopted: boolean }): TicketResult {
  keeper.release(attempt);
  log.info({ event: 'task.detached' }, 'goes on at another hub');
  return { kind: 'done', note: 'goes on at another hub', ...(isAdopted ? {} : { isLeft: true }) };
}

/** Model calls have counted theirs. Before the settlement, while the lease holds what was reserved. The attempt ends all the same when its cost cannot be counted. */
async function countCost({ spend, tokens, usage, log }: Execution, end: AttemptEnd): Promise<void> {
  await Promise.all([spend.settle(usage.hasCalls ? null : end.usage), tokens.settle(end.usage)]).catch((error: unknown) =>
    log.error({ err: error }, 'the cost of an attempt could not be counted'),
  );
}

/**
 * A task that failed as part of a runaway takes what it leads to with it, where that was not cut before. Returns how the attempt ended,
 * with the chain of the tree that it cut in the reason.
 */
async function cutRunaway(ledger: Ledger, { body, log }: Execution, end: AttemptEnd): Promise<AttemptEnd> {
  if (end.kind !== 'failed' || end.error.code !== 'RUNAWAY') return end;
  const { tenant, id, rootTaskId, depth } = body;
  const place = { tenant, root: rootTaskId ?? id };
  try {
    if ((await readCut(ledger, place)) !== null) return end;
    const chain = await describeChain(ledger, { ...body, rootTaskId: place.root, depth: depth ?? 0 });
    const message = `${end.error.message}: ${chain}`;
    await cutTree(ledger, place, message);
    return { ...end, error: { ...end.error, message } };
  } catch (error) {
    log.error({ err: error }, 'a runaway could not be cut');
    return end;
  }
}
