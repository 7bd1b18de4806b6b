import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StepOptions, StepWork } from '../../config/index.ts';
import { classifyFailure, TaskFailure } from '../../errors/index.ts';
import type { JournalError } from '../../ledger/index.ts';
import type { Traces } from '../../log/index.ts';
import { durationMs } from '../../time/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

/** Between the tries of a step: doubled each time, ms. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

interface TryStep extends StepOptions {
  name: string;
  attempt: RunningAttempt;
}

/** Does the work of a step, again after a failure while it has tries. Rejects with the last failure, or the reason of the attempt's stop. */
export async function tryStep<T>({ name, attempt, retries = 0, timeoutMs }: TryStep, work: StepWork<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await runOnce({ name, attempt, timeoutMs }, work);
    } catch (error) {
      attempt.throwIfStopped();
      if (tries >= retries || isHopeless(error)) throw error;
      await delay(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** tries), undefined, { signal: attempt.signal });
    }
  }
}

async function runOnce<T>(
  { name, attempt, timeoutMs }: Pick<TryStep, 'name' | 'attempt'> & { timeoutMs: StepOptions['timeoutMs'] },
  work: StepWork<T>,
): Promise<T> {
  const { signal } = attempt;
  if (timeoutMs === undefined) return await work({ signal });
  const bound = new AbortController();
  const late = Promise.withResolvers<never>();
  const ms = durationMs(timeoutMs);
  const timer = setTimeout(() => {
    const failure = new TaskFailure('STEP_TIMEOUT', `The step "${name}" took longer than ${ms} ms`);
    // Before the abort, which work may answer at once.
    late.reject(failure);
    bound.abort(failure);
  }, ms);
  try {
    return await Promise.race([work({ signal: AbortSignal.any([signal, bound.signal]) }), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(error: unknown): string {
  return journalError(error).code;
}

/** Does the work of a step or a tool as a span; calls of models have spans of their own. */
export async function runAsStepSpan<T>(
  traces: Traces | undefined,
  { kind, name }: { kind: string; name: string },
  work: () => Promise<T>,
): Promise<T> {
  if (traces === undefined || kind === 'model') return await work();
  if (kind !== 'tool') return await traces.run(`step ${name}`, { codeOf }, work);
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
  return await traces.run(`execute_tool ${name}`, { codeOf, attributes }, work);
}

const MAX_NAME = 200;

/**
 * Errors: AGENT_ERROR for a name that is none, and for what begins within a step, whose number is `step`, 0 for none: a later attempt that gets the step does not
 * come there, and would count from here on otherwise.
 */
export function assertMayBegin(step: number, { kind, name }: { kind: string; name: string }): void {
  if (name === '' || name.length > MAX_NAME)
    throw new TaskFailure('AGENT_ERROR', `A step has a name of 1 to ${MAX_NAME} characters, not of ${name.length}`);
  if (step === 0) return;
  const message = `The ${kind} "${name}" begins within the work of entry ${step} of the journal: expected it before or behind that work`;
  throw new TaskFailure('AGENT_ERROR', message, { isFinal: true });
}

/** Errors: JOURNAL_FULL. */
export function assertRoom(seq: number, max: number): void {
  if (seq > max) throw new TaskFailure('JOURNAL_FULL', `The run has more than ${max} entries in its journal (journal.maxEntries)`);
}

/** A step's failure as later attempts meet it. */
export function journalError(error: unknown): JournalError {
  if (!(error instanceof TaskFailure)) return { code: 'AGENT_ERROR', message: error instanceof Error ? error.message : String(error) };
  const { code, message, isFinal } = error;
  return { code, message, ...(isFinal && { isFinal }) };
}

/** Whether a step that failed so is not tried again. */
function isHopeless(error: unknown): boolean {
  return error instanceof TaskFailure && (error.isFinal || classifyFailure(error.code) === 'permanent');
}

/** What a step gave, as JSON. Errors: STEP_TOO_LARGE for more than `max` bytes. */
export function stepJson(name: string, value: unknown, max: number): string | undefined {
  const json = JSON.stringify(value) as string | undefined;
  const bytes = json === undefined ? 0 : Buffer.byteLength(json);
  if (bytes <= max) return json;
  throw new TaskFailure(
    'STEP_TOO_LARGE',
    `The step "${name}" gave ${bytes} bytes of JSON, and the journal takes ${max} (journal.maxValueBytes)`,
  );
}

/** A key for calls outward of a task's step, 0 outside of any: the same in each attempt. 43 letters, digits, `-` and `_`. */
export function onceKey({ tenant, id }: { tenant: string; id: string }, step: number, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, id, step, key]))
    .digest('base64url');
}
