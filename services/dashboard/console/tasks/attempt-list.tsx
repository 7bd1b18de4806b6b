import type { ReactElement } from 'react';
import { durationText } from '../../duration-text.ts';
import type { Tone } from '../../status-tones.ts';
import type { Attempt } from '../api/task-records.ts';
import { ClockTime } from '../parts/clock-time.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { useNow } from '../parts/use-now.ts';
import { Diagnostics } from './diagnostics.tsx';
import classes from './tasks.module.css';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'busy',
  success: 'good',
  failed: 'bad',
  timeout: 'warn',
};

export interface AttemptListProps {
  attempts: readonly Attempt[];
  /** Whether the page says already why the last one failed. */
  isLastExplained: boolean;
}

/** Each attempt, how it ended, and why. */
export function AttemptList({ attempts, isLastExplained }: AttemptListProps): ReactElement {
  return (
    <section className="card">
      <h2>Attempts</h2>
      <ol className={classes['attempts']}>
        {attempts.map((attempt) => (
          <AttemptItem
            key={`${attempt.number}/${attempt.startedAt}`}
            attempt={attempt}
            isExplained={isLastExplained && attempt === attempts.at(-1)}
          />
        ))}
      </ol>
    </section>
  );
}

function AttemptItem({ attempt, isExplained }: { attempt: Attempt; isExplained: boolean }): ReactElement {
  const { number, status, startedAt, endedAt, worker, daemon, error } = attempt;
  const now = useNow();
  const tookMs = (endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt);
  return (
    <li>
      <div className={classes['line']}>
        <strong>#{number}</strong>
        <ToneBadge tone={TONES[status] ?? 'idle'}>{status}</ToneBadge>
        <span>{durationText(tookMs)}</span>
        <span className="faint">
          from <ClockTime at={startedAt} />
        </span>
        <code className={`faint ${classes['worker']}`}>{daemon ?? worker}</code>
      </div>
      {error ? (
        <>
          <p className={classes['words']}>
            <strong>{error.code}</strong> {error.message}
          </p>
          {isExplained ? null : <Diagnostics details={error.details} />}
        </>
      ) : null}
    </li>
  );
}
