import { type AttemptEnd, errorOf, type Ledger, readTask, type Transition } from '../../ledger/index.ts';
import { attemptTraceparent, type Span, type SpanAttributes } from '../../log/index.ts';
import type { TaskBody, TaskState } from '../../tasks/index.ts';
import { publicTenantId } from '../../tenants/index.ts';

type Traced = Pick<Ledger, 'traces'>;

/**
 * Starts the span of an attempt, below what asked for the task. Its id follows from the task and the token, so that later attempts, sub-tasks and deliveries
 * name it wherever they run. `startedAt`: ms since the epoch, of one that began before now.
 */
export function startAttemptSpan({ traces }: Traced, body: TaskBody, state: TaskState, startedAt?: number): Span | undefined {
  if (traces === undefined) return undefined;
  return traces.start(`attempt ${body.agent}`, {
    parent: body.traceparent,
    as: attemptTraceparent(body, state.token),
    kind: 'consumer',
    // The one before, which this one goes on from.
    links: state.token > 1 ? [attemptTraceparent(body, state.token - 1)] : [],
    attributes: attributesOf(body, state),
    startedAt,
  });
}

function attributesOf({ id, tenant, agent, source }: TaskBody, { attempt, queue, worker, daemon }: TaskState): SpanAttributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'muster.task.id': id,
    'muster.tenant': publicTenantId(tenant),
    'muster.source': source,
    'muster.queue': queue,
    'muster.attempt': attempt,
    'muster.worker': worker,
    'muster.daemon': daemon,
  };
}

/** Ends the span of an attempt with how it ended, and what the ledger did with its task. */
export function endAttemptSpan(span: Span, end: AttemptEnd, settled: Transition | 'lost'): void {
  span.set({
    'muster.attempt.end': end.kind,
    'muster.task.status': settled === 'lost' ? undefined : settled.status,
    'gen_ai.usage.input_tokens': end.usage?.inputTokens,
    'gen_ai.usage.output_tokens': end.usage?.outputTokens,
  });
  const code = settled === 'lost' ? 'LEASE_LOST' : errorOf(end)?.code;
  if (code !== undefined) span.fail(code);
  span.end();
}

interface LostAttempt {
  tenant: string;
  id: string;
  running: TaskState;
  end: AttemptEnd;
  transition: Transition;
}

/** Records the span of an attempt whose process could not: it was lost. Never rejects. */
export async function recordLostAttempt(ledger: Ledger, { tenant, id, running, end, transition }: LostAttempt): Promise<void> {
  if (ledger.traces === undefined) return;
  // Spans are no part of what a task needs to go on.
  const task = await readTask(ledger, tenant, id).catch(() => null);
  if (task === null) return;
  const span = startAttemptSpan(ledger, task.body, running, running.startedAt ?? running.scheduledAt);
  if (span) endAttemptSpan(span, end, transition);
}
