import { type Ledger, parseState, readInputs } from '#shared/ledger/index.ts';
import { readTranscript } from '#shared/sessions/index.ts';
import type { TaskBody } from '#shared/tasks/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

/**
 * Whether a visitor said something of what an attempt answers: its message, what went into its run, or what was said in its session
 * before. A visitor could talk an agent into writing what the visitor may not do. The session counts also where the agent did not ask
 * for it, since some remember it by themselves.
 */
export async function hasVisitorsWords(
  ledger: Ledger,
  { id, tenant, session, visitor }: TaskBody,
  attempt: RunningAttempt,
): Promise<boolean> {
  if (visitor !== null || attempt.heardVisitor) return true;
  const { inputs = [] } = parseState(attempt.stored, attempt.first);
  const messages = inputs.length === 0 ? [] : await readInputs(ledger, tenant, inputs);
  if (messages.some((message) => message.visitor !== null)) return true;
  const turns = session === null ? [] : await readTranscript(ledger, tenant, session, { before: id });
  return turns.some(({ hasVisitor }) => hasVisitor);
}
