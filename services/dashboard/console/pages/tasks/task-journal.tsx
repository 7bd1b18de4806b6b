import type { ReactElement } from 'react';
import type { JournalEntry } from '#shared/client/openapi.gen.ts';
import { Money, Tokens } from '../../parts/numbers.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { ClockTime, durationText, useNow } from '../../parts/time.tsx';
import classes from './tasks.module.css';

const TONES: Readonly<Record<JournalEntry['status'], Tone>> = { started: 'busy', completed: 'good', failed: 'bad', waiting: 'warn' };

const KINDS: Readonly<Record<JournalEntry['kind'], string>> = {
  definition: 'began',
  step: 'step',
  input: 'messages',
  sleep: 'sleep',
  event: 'event',
  question: 'question',
  delegate: 'sub-tasks',
};

/** What the run has done, by which attempt, and what each entry used. */
export function TaskJournal({ entries }: { entries: readonly JournalEntry[] }): ReactElement | null {
  if (entries.length === 0) return null;
  return (
    <section className="card">
      <h2>Journal</h2>
      <ol className={classes['attempts']}>
        {entries.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </ol>
    </section>
  );
}

function Entry({ entry }: { entry: JournalEntry }): ReactElement {
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
