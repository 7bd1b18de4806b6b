import type { ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { Attempt, TimelineStep, Why } from '#shared/client/openapi.gen.ts';
import { StatusBadge } from '../../../parts/status-badge.tsx';
import { Sentence } from '../../../parts/text/sentence.tsx';
import { ClockTime, durationText, useNow } from '../../../parts/time.tsx';
import classes from './task-gantt.module.css';
import { placeOf, spansOf } from './timeline-spans.ts';
import taskClasses from '../tasks.module.css';

interface TaskGanttProps {
  steps: readonly TimelineStep[];
  attempts: readonly Attempt[];
  reasons: Why['reasons'];
}

/** The waits and attempts of a task side by side with the time that each took. */
export function TaskGantt({ steps, attempts, reasons }: TaskGanttProps): ReactElement | null {
  const now = useNow();
  const last = steps.at(-1);
  const spans = spansOf({ steps, attempts, reasons, now });
  const [first] = spans;
  if (first === undefined || last === undefined) return null;
  const range = { from: first.from, to: isTerminal(last.status) ? Date.parse(last.at) : Math.max(now, Date.parse(last.at)) };
  return (
    <section className="card">
      <div className={taskClasses['line']}>
        <h2>Timeline</h2>
        <span className="faint">{durationText(range.to - range.from)} in all</span>
      </div>
      <ol className={classes['gantt']}>
        {spans.map((span) => {
          const { left, width } = placeOf(span, range);
          return (
            <li key={`${span.from}/${span.name}`}>
              <span className={classes['name']}>{span.name}</span>
              <span className={classes['track']} aria-hidden="true">
                <span
                  className={classes['span']}
                  data-tone={span.tone}
                  data-open={span.isOpen}
                  style={{ left: `${left}%`, width: `${width}%` }}
                />
              </span>
              <span className={classes['took']}>{durationText(span.to - span.from)}</span>
              {span.detail === null ? null : (
                <span className={`faint ${classes['detail']}`}>
                  <Sentence text={span.detail} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
      <StepList steps={steps} />
    </section>
  );
}

/** Every state of the task with its time, oldest first. */
function StepList({ steps }: { steps: readonly TimelineStep[] }): ReactElement {
  return (
    <details className={taskClasses['part']}>
      <summary>Every state</summary>
      <ol className={taskClasses['entries']}>
        {steps.map((step) => (
          <li key={`${step.status}/${step.at}`}>
            <span className="faint">
              <ClockTime at={step.at} />
            </span>
            <StatusBadge status={step.status} />
            {step.note ? (
              <span className={taskClasses['words']}>
                <Sentence text={step.note} />
              </span>
            ) : null}
          </li>
        ))}
      </ol>
    </details>
  );
}
