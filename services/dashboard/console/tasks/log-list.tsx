import type { ReactElement } from 'react';
import type { Tone } from '../parts/status-tones.ts';
import type { LogEntry } from '../api/tasks.ts';
import { ClockTime } from '../parts/time.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { ScrollBox } from './scroll-box.tsx';
import classes from './tasks.module.css';

const TONES: Readonly<Record<string, Tone>> = { info: 'idle', warn: 'warn', error: 'bad', progress: 'busy' };

/** What its agent reported beside the output, the newest first. */
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
      <ToneBadge tone={TONES[name] ?? 'idle'}>{name}</ToneBadge>
      <span className={classes['words']}>
        {typeof percent === 'number' ? `${Math.round(percent)} % ` : ''}
        {text}
        {fields ? <code className={classes['fields']}>{JSON.stringify(fields)}</code> : null}
      </span>
    </li>
  );
}
