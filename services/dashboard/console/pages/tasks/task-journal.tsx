import type { ReactElement } from 'react';
import type { JournalEntry } from '#shared/client/openapi.gen.ts';
import { bytesText, Money, Tokens } from '../../parts/numbers.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { TaskRef } from '../../api/task-ref.ts';
import { Sentence } from '../../parts/text/sentence.tsx';
import { ClockTime, durationText, useNow } from '../../parts/time.tsx';
import { EntryBody } from './entry-body.tsx';
import classes from './tasks.module.css';

const TONES: Readonly<Record<JournalEntry['status'], Tone>> = { started: 'busy', completed: 'good', failed: 'bad', waiting: 'warn' };

const KINDS: Readonly<Record<JournalEntry['kind'], string>> = {
  definition: 'began',
  step: 'step',
  model: 'model',
  tool: 'tool',
  input: 'messages',
  sleep: 'sleep',
  event: 'event',
  question: 'question',
  delegate: 'sub-tasks',
  batch: 'batch',
  caller: 'functions of the caller',
};

interface TaskJournalProps {
  entries: readonly JournalEntry[];
  taskRef: TaskRef;
  /** Whether the task has ended, so that another may go on behind one of its entries. */
  isEnded: boolean;
}

/** What the run has done, by which attempt, with what each entry was given, gave and used. */
export function TaskJournal({ entries, taskRef, isEnded }: TaskJournalProps): ReactElement | null {
  if (entries.length === 0) return null;
  return (
    <section className="card" aria-label="Journal">
      <h2>Journal</h2>
      <ol className={classes['attempts']}>
        {entries.map((entry) => (
          <Entry key={entry.seq} entry={entry} taskRef={taskRef} isEnded={isEnded} />
        ))}
      </ol>
    </section>
  );
}

function Entry({ entry, taskRef, isEnded }: Omit<TaskJournalProps, 'entries'> & { entry: JournalEntry }): ReactElement {
  const { seq, kind, name, status, attempt, error, usage, replays } = entry;
  return (
    <li id={`entry-${seq}`}>
      <div className={classes['line']}>
        <a href={`#entry-${seq}`}>
          <strong>{seq}</strong>
        </a>
        <ToneBadge tone={TONES[status]}>{status}</ToneBadge>
        <span className="faint">{KINDS[kind]}</span>
        <span className={classes['words']}>{name}</span>
        <Took entry={entry} />
        {entry.bytes === null ? null : <span className="faint">{bytesText(entry.bytes)}</span>}
        <span className="faint">
          attempt {attempt}
          {replays === 0 ? '' : `, replayed ${replays === 1 ? 'once' : `${replays} times`}`}
        </span>
        {usage ? (
          <span className="faint">
            <Tokens usage={usage} /> tokens · <Money microUsd={usage.costMicroUsd} isEstimated={usage.isEstimated} />
          </span>
        ) : null}
      </div>
      {error ? (
        <p className={classes['words']}>
          <strong>{error.code}</strong> <Sentence text={error.message} />
        </p>
      ) : null}
      <EntryBody entry={entry} taskRef={taskRef} isEnded={isEnded} />
    </li>
  );
}

function Took({ entry: { kind, status, startedAt, endedAt, until } }: { entry: JournalEntry }): ReactElement | null {
  const now = useNow();
  if (kind === 'definition') return null;
  if (status !== 'waiting') return <span>{durationText((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt))}</span>;
  if (until === null) return <span>without end</span>;
  return (
    <span>
      until <ClockTime at={until} />
    </span>
  );
}
