import type { AcceptedAnswer, Ledger, NewTask } from '../../ledger/index.ts';
import { type Log, traceIdOf } from '../../log/index.ts';
import { monitorOf } from '../pressure/pressure-monitor.ts';

interface LogPorts {
  readonly ledger: Ledger;
  readonly log: Log;
}

interface AcceptedTask {
  readonly task: NewTask;
  readonly answer: AcceptedAnswer;
}

/** Logs tasks that one call accepted: those that differ by their ids only in one line, which names all of them. */
export function logAccepted({ ledger, log }: LogPorts, accepted: readonly AcceptedTask[]): void {
  if (!log.isLevelEnabled('info')) return;
  for (const [first, ...others] of Map.groupBy(accepted, kindOf).values()) {
    if (first) logTasks({ ledger, log }, first, others);
  }
}

/** Characters of a trace context, up to the end of the trace's id. */
const TRACE_ENDS = 35;

/** What two tasks have in common that share a line. */
function kindOf({ task: { body, priority, queue }, answer: { gate, outcome } }: AcceptedTask): string {
  const end = outcome === null ? '' : `${outcome.kind} ${outcome.reason}`;
  return `${body.agent}|${body.source}|${priority}|${queue}|${gate}|${body.traceparent.slice(0, TRACE_ENDS)}|${end}`;
}

function logTasks(
  { ledger, log }: LogPorts,
  { task: { body, priority, queue }, answer }: AcceptedTask,
  others: readonly AcceptedTask[],
): void {
  const { id, tenant, agent, source, traceparent } = body;
  const { status, gate, ahead, outcome } = answer;
  const ids =
    others.length === 0 ? { task: id } : { tasks: [id, ...others.map((each) => each.task.body.id)].join(','), count: others.length + 1 };
  const fields = { ...ids, tenant, agent, source, priority, queue, trace: traceIdOf(traceparent) };
  if (outcome) {
    log.info({ event: 'task.created', status, outcome: outcome.kind, reason: outcome.reason, ...fields }, 'accepted, and not to run');
  } else if (gate !== null) {
    log.info({ event: 'task.created', gate, ahead, ...fields }, 'accepted, and waits');
  } else {
    log.info({ event: 'task.created', ...fields }, 'accepted');
    log.info({ event: 'task.queued', ...fields, ...loadOf({ ledger, log }, tenant), queueDepth: answer.depth + others.length }, 'queued');
  }
}

/** The open tasks of a tenant, and how long its next one waits; null for what this process has not read. */
export function loadOf(ports: LogPorts, tenant: string): { queueDepth: number | null; estimatedWaitMs: number | null } {
  const known = monitorOf(ports).known(tenant);
  return { queueDepth: known?.depth ?? null, estimatedWaitMs: known?.waitMs ?? null };
}
