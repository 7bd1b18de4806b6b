import type { ReactElement } from 'react';
import type { Attempt, LogEntry, TaskError } from '#shared/client/openapi.gen.ts';
import { Money, Tokens } from '../../parts/numbers.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { ClockTime, durationText, useNow } from '../../parts/time.tsx';
import classes from './tasks.module.css';
import { timesInARow } from '../../parts/text/times-in-a-row.ts';

const ATTEMPT_TONES: Readonly<Record<string, Tone>> = {
  running: 'busy',
  success: 'good',
  failed: 'bad',
  timeout: 'warn',
};

interface AttemptListProps {
  attempts: readonly Attempt[];
  /** Whether the page already shows the error of the last attempt. */
  isLastExplained: boolean;
}

/** Each attempt with its end and its error. */
export function AttemptList({ attempts, isLastExplained }: AttemptListProps): ReactElement {
  return (
    <section className="card">
      <h2>Attempts</h2>
      <ol className={classes['attempts']}>
        {attempts.map((attempt, at) => (
          <AttemptItem
            key={`${attempt.number}/${attempt.startedAt}`}
            attempt={attempt}
            times={timesInARow(attempts, at)}
            isExplained={isLastExplained && attempt === attempts.at(-1)}
          />
        ))}
      </ol>
    </section>
  );
}

interface AttemptItemProps {
  attempt: Attempt;
  /** Of its failure in a row; 0 where a later attempt shows it. */
  times: number;
  /** Whether the page shows its error already. */
  isExplained: boolean;
}

function AttemptItem({ attempt, times, isExplained }: AttemptItemProps): ReactElement {
  const { number, status, startedAt, endedAt, worker, daemon, error, usage, model, notes } = attempt;
  const now = useNow();
  const tookMs = (endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt);
  return (
    <li>
      <div className={classes['line']}>
        <strong>#{number}</strong>
        <ToneBadge tone={ATTEMPT_TONES[status] ?? 'idle'}>{status}</ToneBadge>
        <span>{durationText(tookMs)}</span>
        <span className="faint">
          from <ClockTime at={startedAt} />
        </span>
        {usage ? (
          <span className="faint">
            <Tokens usage={usage} /> tokens · <Money microUsd={usage.costMicroUsd} isEstimated={usage.isEstimated} />
          </span>
        ) : null}
        {model ? <span className="faint">{model}</span> : null}
        <code className={`faint ${classes['worker']}`}>{daemon ?? worker}</code>
      </div>
      {notes.map((note) => (
        <p key={note} className={`faint ${classes['words']}`}>
          {note}
        </p>
      ))}
      {error && times > 0 ? <AttemptError error={error} times={times} isExplained={isExplained} /> : null}
    </li>
  );
}

function AttemptError({ error, times, isExplained }: { error: TaskError; times: number; isExplained: boolean }): ReactElement {
  return (
    <>
      <p className={classes['words']}>
        {times > 1 ? `The same failure ${times} times: ` : null}
        <strong>{error.code}</strong> {isExplained ? null : <Sentence text={error.message} />}
      </p>
      {isExplained ? null : <Diagnostics details={error.details} />}
    </>
  );
}

/** The details of an error in folded parts: the code that threw, the stack, the end of stderr, and the rest. */
export function Diagnostics({ details }: { details: TaskError['details'] }): ReactElement | null {
  if (!details) return null;
  const { stack, stderr, sourceCode, ...rest } = details;
  return (
    <>
      {typeof stderr === 'string' ? <Part title="End of stderr" text={stderr} isOpen /> : null}
      {typeof sourceCode === 'string' ? <Part title="Code" text={sourceCode} isOpen /> : null}
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

const LOG_TONES: Readonly<Record<string, Tone>> = { info: 'idle', warn: 'warn', error: 'bad', progress: 'busy' };

/** The log entries and progress of the agent, newest first. */
export function LogList({ entries }: { entries: readonly LogEntry[] }): ReactElement {
  return (
    <section className="card">
      <h2>Log</h2>
      <ScrollBox className={classes['scroll']} label="Log">
        <ol className={classes['entries']}>
          {entries.toReversed().map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      </ScrollBox>
    </section>
  );
}

function Entry({ entry }: { entry: LogEntry }): ReactElement {
  const { at, kind, level, text, fields, percent } = entry;
  const name = kind === 'progress' ? 'progress' : (level ?? 'info');
  return (
    <li>
      <span className="faint">
        <ClockTime at={at} withDay={false} />
      </span>
      <ToneBadge tone={LOG_TONES[name] ?? 'idle'}>{name}</ToneBadge>
      <span className={classes['words']}>
        {typeof percent === 'number' ? `${Math.round(percent)} % ` : ''}
        {text}
        {fields ? <code className={classes['fields']}>{JSON.stringify(fields)}</code> : null}
      </span>
    </li>
  );
}
