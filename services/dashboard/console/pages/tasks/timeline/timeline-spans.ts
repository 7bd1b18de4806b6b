import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { gateText } from '#shared/errors/gates.ts';

interface Step {
  status: TaskStatus;
  at: string;
  note?: string | null | undefined;
}

interface Attempt {
  number: number;
  status: string;
  error?: { code: string } | null | undefined;
}

interface Reason {
  gate: string;
  detail: string;
}

/** A stretch of a task's life with one cause. */
export interface Span {
  readonly name: string;
  readonly detail: string | null;
  readonly tone: 'idle' | 'busy' | 'good' | 'warn' | 'bad';
  readonly from: number;
  /** Equal to `from` of the next span; now for the last span of an open task. */
  readonly to: number;
  readonly isOpen: boolean;
}

interface SpanFacts {
  steps: readonly Step[];
  attempts: readonly Attempt[];
  /** The reasons of the current wait. */
  reasons: readonly Reason[];
  now: number;
}

/** The waits and attempts of a task, oldest first. Its end is no span. */
export function spansOf({ steps, attempts, reasons, now }: SpanFacts): Span[] {
  let running = 0;
  const spans = steps.map((step, place): Span | null => {
    if (step.status === 'running') running += 1;
    const next = steps[place + 1];
    if (isTerminal(step.status) || endsWithout(step, next)) return null;
    const from = Date.parse(step.at);
    const attempt = step.status === 'running' ? attempts[running - 1] : undefined;
    const reason = next === undefined ? reasons[0] : undefined;
    const to = Math.max(from, next === undefined ? now : Date.parse(next.at));
    return { ...describeStep(step, attempt, reason), from, to, isOpen: next === undefined };
  });
  return spans.filter((span) => span !== null);
}

/** Whether a wait took no time, or a retry that never followed. */
function endsWithout({ status, at }: Step, next: Step | undefined): boolean {
  if (next === undefined || status === 'running') return false;
  return next.status === 'permanently_failed' || Date.parse(next.at) <= Date.parse(at);
}

const WAIT_NAMES: Partial<Record<TaskStatus, string>> = {
  pending: 'Waits for its turn',
  queued: 'Waits for a worker',
  scheduled: 'Starts',
  failed: 'Waits for its retry',
  timeout: 'Waits for its retry',
  suspended: 'Suspended',
};

type Described = Pick<Span, 'name' | 'detail' | 'tone'>;

function describeStep(step: Step, attempt: Attempt | undefined, reason: Reason | undefined): Described {
  return step.status === 'running' ? describeRun(step, attempt) : describeWait(step, reason);
}

const ATTEMPT_TONES: Readonly<Record<string, Span['tone']>> = { success: 'good', suspended: 'good', failed: 'bad', timeout: 'bad' };

function describeRun({ note = null }: Step, attempt: Attempt | undefined): Described {
  if (attempt === undefined) return { name: 'Runs', detail: note, tone: 'busy' };
  const { number, status, error } = attempt;
  return { name: `Attempt ${number}`, detail: error?.code ?? note, tone: ATTEMPT_TONES[status] ?? 'busy' };
}

const LONG_WAITS = new Set<TaskStatus>(['pending', 'failed', 'timeout']);

function describeWait({ status, note = null }: Step, reason: Reason | undefined): Described {
  if (reason !== undefined) return { name: `Waits for ${gateText(reason.gate)}`, detail: reason.detail, tone: 'warn' };
  return { name: WAIT_NAMES[status] ?? status, detail: note, tone: LONG_WAITS.has(status) ? 'warn' : 'idle' };
}

/** Where a span stands between the first and the last time, in percent; a short one keeps a visible width. */
export function placeOf({ from, to }: Span, range: { from: number; to: number }): { left: number; width: number } {
  const total = Math.max(1, range.to - range.from);
  const width = Math.max(MIN_WIDTH, ((to - from) / total) * 100);
  return { left: Math.min(((from - range.from) / total) * 100, 100 - width), width };
}

const MIN_WIDTH = 0.6;
