import type { ReactElement } from 'react';
import { durationText } from '../parts/duration-text.ts';
import type { Tone } from '../parts/status-tones.ts';
import type { Attempt, TaskError } from '../api/tasks.ts';
import { ClockTime, useNow } from '../parts/time.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import classes from './tasks.module.css';
import { ScrollBox } from './scroll-box.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'busy',
  success: 'good',
  failed: 'bad',
  timeout: 'warn',
};

interface AttemptListProps {
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

/** What a failure's details say, each part apart and folded: where it was thrown, what a program wrote to stderr, and the rest. */
export function Diagnostics({ details }: { details: TaskError['details'] }): ReactElement | null {
  if (!details) return null;
  const { stack, stderr, ...rest } = details;
  return (
    <>
      {typeof stderr === 'string' ? <Part title="End of stderr" text={stderr} isOpen /> : null}
      {typeof stack === 'string' ? <Part title="Stack" text={stack} /> : null}
      {Object.keys(rest).length > 0 ? <Part title="Details" text={JSON.stringify(rest, null, 2)} /> : null}
    </>
  );
}

function Part({ title, text, isOpen = false }: { title: string; text: string; isOpen?: boolean }): ReactElement {
  return (
    <details className={classes['part']} open={isOpen}>
      <summary>{title}</summary>
      <ScrollBox className={classes['said']} label={title}>
        <pre>{text}</pre>
      </ScrollBox>
    </details>
  );
}
