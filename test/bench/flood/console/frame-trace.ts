import type { CDPSession } from 'playwright-core';

/** A frame of the page, ms: from its first task to its presentation, and the CPU that the page's main thread used meanwhile. */
export interface TracedFrame {
  lengthMs: number;
  cpuMs: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  id?: string;
  id2?: { local?: string };
  args?: { name?: string };
}

/** Shorter tasks are not worth their memory, and add up to little. */
const MIN_TASK_MICROS = 200;
const CATEGORIES = ['toplevel', 'devtools.timeline'];

/** Records what the browser's threads do, and returns the function that ends it and resolves to the frames of at least this length. */
export async function traceFrames(session: CDPSession, minLengthMs: number): Promise<() => Promise<TracedFrame[]>> {
  const events: TraceEvent[] = [];
  const onData = ({ value }: { value: object[] }): void => {
    for (const event of value as TraceEvent[]) if (isWanted(event)) events.push(event);
  };
  session.on('Tracing.dataCollected', onData);
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { recordMode: 'recordAsMuchAsPossible', includedCategories: CATEGORIES },
  });
  return async () => {
    const isComplete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
    await session.send('Tracing.end');
    await isComplete;
    session.off('Tracing.dataCollected', onData);
    return framesOf(events).filter(({ lengthMs }) => lengthMs >= minLengthMs);
  };
}

function isWanted({ name, dur = 0 }: TraceEvent): boolean {
  return name === 'thread_name' || name === 'AnimationFrame' || (name === 'ThreadControllerImpl::RunTask' && dur >= MIN_TASK_MICROS);
}

function framesOf(events: readonly TraceEvent[]): TracedFrame[] {
  const main = events.find(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const tasks = events.filter(({ ph, pid, tid }) => ph === 'X' && pid === main?.pid && tid === main.tid);
  const begun = new Map<string | undefined, number>();
  const frames: TracedFrame[] = [];
  for (const event of events.filter(({ name, pid }) => name === 'AnimationFrame' && pid === main?.pid)) {
    const id = event.id2?.local ?? event.id;
    const from = begun.get(id);
    if (event.ph === 'b') begun.set(id, event.ts);
    else if (event.ph === 'e' && from !== undefined)
      frames.push({ lengthMs: (event.ts - from) / 1000, cpuMs: cpuMs(tasks, from, event.ts) });
  }
  return frames;
}

/** The CPU time of a thread between two times of the trace; a task that is only partly between them counts by its share of wall time. */
function cpuMs(tasks: readonly TraceEvent[], from: number, to: number): number {
  let micros = 0;
  for (const { ts, dur = 0, tdur = 0 } of tasks) {
    const inside = Math.min(ts + dur, to) - Math.max(ts, from);
    if (inside > 0 && dur > 0) micros += (tdur * inside) / dur;
  }
  return micros / 1000;
}
