import type { ReactElement } from 'react';
import type { Step } from '../api/tasks.ts';
import { ClockTime } from '../parts/time.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import classes from './tasks.module.css';

/** Every step that a task took, first to last. */
export function Timeline({ steps }: { steps: readonly Step[] }): ReactElement {
  return (
    <section className="card">
      <h2>Timeline</h2>
      <ol className={classes['entries']}>
        {steps.map((step) => (
          <li key={`${step.status}/${step.at}`}>
            <span className="faint">
              <ClockTime at={step.at} />
            </span>
            <StatusBadge status={step.status} />
            {step.note ? <span className={classes['words']}>{step.note}</span> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}
