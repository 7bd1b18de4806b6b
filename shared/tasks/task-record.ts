import { isTruncated } from '../config/index.ts';
import { BACKOFF_GATES, type Gate } from '../errors/index.ts';
import type { Attachment } from '../files/index.ts';
import { truncate } from '../text/index.ts';
import { isTerminal, TASK_STATUSES, type TaskStatus } from './transitions.ts';
import { toIso } from '../time/index.ts';
import { traceIdOf } from '../log/index.ts';
import type { ResolvedExecution, Task, TaskError, TaskOutcome } from './task.ts';
import type { StoredAttempt, StoredError, TaskState } from './task-state.ts';
import { usageRecord } from './usage.ts';
import { publicTenantId } from '../tenants/index.ts';
import { releaseOf } from './worker-name.ts';

/** The public record of a task: the contract's field names, ISO times, null for what is absent. */
export function taskRecord({ body, state, output, result, archived }: Task): Record<string, unknown> {
  return {
    id: body.id,
    tenant: publicTenantId(body.tenant),
    agent: body.agent,
    source: body.source,
    channel: body.channel,
    session: body.session,
    visitor: body.visitor,
    untrusted: body.untrusted,
    status: state.status,
    gate: gateOf(state),
    priority: state.priority,
    queue: state.queue,
    input: body.input,
    system: body.system,
    context: body.context,
    metadata: body.metadata,
    parentTaskId: body.parentTaskId,
    rootTaskId: body.rootTaskId,
    depth: body.depth ?? 0,
    keyId: body.keyId,
    correlationId: body.correlationId,
    scheduleId: body.scheduleId,
    sourceId: body.sourceId ?? body.scheduleId,
    trigger: body.trigger,
    deadline: toIso(body.deadline),
    sla: toIso(body.sla),
    slaBreached: isSlaBreached(body, state),
    scheduledFor: toIso(body.scheduledFor),
    retryAt: toIso(retryAtOf(state)),
    requirements: body.requirements ?? null,
    execution: executionRecord(body.execution),
    callbackUrl: body.callbackUrl,
    attachments: (body.attachments ?? []).map(attachmentRecord),
    output,
    result: result ?? null,
    ...(archived !== undefined && { archived: true }),
    ...endingRecord(state),
    error: taskError(state.error),
    attempt: state.attempt,
    outcome: state.outcome ? outcomeRecord(state.outcome) : null,
    usage: usageRecord(state.usage),
    worker: state.worker ?? null,
    release: releaseOf(state.worker),
    ...interruptedRecord(state),
    requestId: traceIdOf(body.traceparent),
    traceId: traceIdOf(body.traceparent),
    createdAt: toIso(state.createdAt),
    queuedAt: toIso(state.queuedAt),
    scheduledAt: toIso(state.scheduledAt),
    startedAt: toIso(state.startedAt),
    completedAt: toIso(state.completedAt),
  };
}

/** What interrupted its attempts. */
function interruptedRecord({ interruptions, preemptedBy }: TaskState): Record<string, unknown> {
  return { interruptions: interruptions ?? 0, preemptedBy: preemptedBy ?? null };
}

/** How the answer of its model ended. */
function endingRecord({ finishReason }: TaskState): Record<string, unknown> {
  return { finishReason: finishReason ?? null, isTruncated: finishReason !== undefined && isTruncated(finishReason) };
}

function attachmentRecord({ name, mediaType, bytes, file, url }: Attachment): Record<string, unknown> {
  return { name, mediaType, bytes, uploadId: file, url };
}

/** What a task that has not ended and does not run waits for; null for others. Only a daemon that was given a task has yet to accept it. */
function gateOf({ status, gate }: TaskState): Gate | 'queue' | null {
  if (status === 'scheduled') return 'daemon';
  return isTerminal(status) || status === 'running' ? null : (gate ?? 'queue');
}

function executionRecord(execution: ResolvedExecution): Record<string, unknown> {
  return { ...execution, deadlineAborts: execution.deadlineAborts ?? false, withinMs: execution.withinMs ?? null };
}

/** Whether a task's sla passed before its end; null without an sla. Of an open task that is noted within seconds. */
function isSlaBreached({ sla }: Task['body'], { completedAt, slaBreached }: TaskState): boolean | null {
  if (sla === null) return null;
  return completedAt === undefined ? slaBreached === true : completedAt > sla;
}

/** When a task that waits for a retry starts again, ms since the epoch; undefined when it waits for none. */
export function retryAtOf({ gate, notBefore }: TaskState): number | undefined {
  return BACKOFF_GATES.has(gate) ? notBefore : undefined;
}

/** An attempt as the API shows it. */
export function attemptRecord(attempt: StoredAttempt): Record<string, unknown> {
  return {
    number: attempt.number,
    worker: attempt.worker,
    release: releaseOf(attempt.worker),
    daemon: attempt.daemon ?? null,
    startedAt: toIso(attempt.startedAt),
    endedAt: toIso(attempt.endedAt),
    status: attempt.status,
    error: taskError(attempt.error),
    usage: usageRecord(attempt.usage),
    model: attempt.model ?? null,
    notes: attempt.notes ?? [],
  };
}

/** A stored error as the API shows it. */
function taskError(error: StoredError | undefined): TaskError | null {
  if (!error) return null;
  const details: unknown = error.details === undefined ? null : JSON.parse(error.details);
  return { code: error.code, message: error.message, retryable: error.retryable, details };
}

/** An outcome as the scripts store it. */
export type StoredOutcome = NonNullable<TaskState['outcome']>;

/** An outcome as the API shows it: null for what the scripts leave out. */
export function outcomeRecord({ kind, taskId, reason }: StoredOutcome): TaskOutcome {
  return { kind, taskId: taskId ?? null, reason: reason ?? null };
}

const MAX_NOTE_CHARACTERS = 200;

interface TimelineEntry {
  status: TaskStatus;
  /** Milliseconds since the epoch. */
  at: number;
  note: string | null;
}

/** Reads the timeline in a task's state, oldest entry first. */
export function parseTimeline(log: string): TimelineEntry[] {
  return log.split(';').map((entry) => {
    const [, name, at = '0', note] = /^(\w+)@(\d+)(?: (.*))?$/s.exec(entry) ?? [];
    const status = TASK_STATUSES.find((each) => each === name) ?? 'pending';
    return { status, at: Number(at), note: note ?? null };
  });
}

/** A note as an entry of the timeline holds it: short, on one line, without semicolons. The scripts replace the same characters. */
export function timelineNote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the ones to replace
  return truncate(text, MAX_NOTE_CHARACTERS).replaceAll(/[;\u0000-\u001f\u007f]/g, ',');
}
