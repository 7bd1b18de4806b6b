import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactElement } from 'react';
import { z } from 'zod';
import type { Schedule, SchedulePreview } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { ApiProblem, problemText } from '../../api/api-problem.ts';
import { readTimesAfter } from './schedule-reads.ts';
import { zoneTime } from '../../parts/zone-time.ts';
import classes from './schedules.module.css';

const QUIET_MS = 250;
const SHOWN = 5;
/** The details of an unreadable rule. */
const formsSchema = z.object({ reason: z.string(), accepted: z.array(z.string()) });

interface RulePreviewProps {
  phrase: string;
  tz: string;
  /** The schedule that is edited; null for a new schedule. */
  known: Schedule | null;
}

/** A rule read back while it is typed: the sentence, the zone, the next five times. */
export function RulePreview({ phrase, tz: typedZone, known }: RulePreviewProps): ReactElement {
  const rule = useDebounced(phrase.trim(), QUIET_MS);
  const tz = useDebounced(typedZone, QUIET_MS);
  // The schedule has its own next times, unless it is paused. The same rule started now may have others.
  if (known !== null && known.status !== 'paused' && rule === known.rule && tz === known.tz) {
    return (
      <div className={classes['preview']} aria-live="polite">
        <KnownTimes schedule={known} />
      </div>
    );
  }
  return <FetchedPreview rule={rule} tz={tz} />;
}

/** The schedule's own next times, five with those that its rule adds. */
function KnownTimes({ schedule }: { schedule: Schedule }): ReactElement {
  const { data } = useQuery({
    queryKey: ['schedules', schedule.id, 'times', schedule.next],
    queryFn: ({ signal }) => readTimesAfter(schedule, SHOWN, signal),
  });
  return <RuleSummary preview={{ ...schedule, next: data ?? schedule.next }} whenEmpty="It fires no more." />;
}

const PREVIEWED = 5;

function FetchedPreview({ rule, tz }: { rule: string; tz: string }): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['preview', rule, tz],
    queryFn: ({ signal }) => answerOf(api.POST('/v1/schedules/preview', { body: { phrase: rule, tz, count: PREVIEWED }, signal })),
    enabled: rule !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <div className={classes['preview']} aria-live="polite">
      {rule === '' ? <span className="faint">What you type is read back here, with the next five times.</span> : null}
      {rule !== '' && error !== null ? <UnreadableRule error={error} /> : null}
      {rule !== '' && error === null && data !== undefined ? <RuleSummary preview={data} whenEmpty="It never fires." /> : null}
    </div>
  );
}

/** The reason, with the many accepted forms folded below it. */
function UnreadableRule({ error }: { error: unknown }): ReactElement {
  const forms = formsSchema.safeParse(error instanceof ApiProblem ? error.details : {});
  if (!forms.success) return <p className={classes['unreadable']}>{problemText(error)}</p>;
  return (
    <>
      <p className={classes['unreadable']}>This {forms.data.reason}.</p>
      <details className={classes['forms']}>
        <summary>What can be read</summary>
        <ul tabIndex={0} aria-label="What can be read">
          {forms.data.accepted.map((form) => (
            <li key={form}>{form}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

function RuleSummary({
  preview,
  whenEmpty,
}: {
  preview: Pick<SchedulePreview, 'sentence' | 'tz' | 'next'>;
  whenEmpty: string;
}): ReactElement {
  return (
    <>
      <p>
        <strong>{preview.sentence}</strong> <span className="faint">({preview.tz})</span>
      </p>
      <ol>
        {preview.next.map((at) => (
          <li key={at}>
            <time dateTime={at}>{zoneTime(at, preview.tz)}</time>
          </li>
        ))}
      </ol>
      {preview.next.length === 0 ? <p className="faint">{whenEmpty}</p> : null}
    </>
  );
}

/** The value after it has not changed for `quietMs`. */
function useDebounced<Value>(value: Value, quietMs: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), quietMs);
    return () => clearTimeout(timer);
  }, [value, quietMs]);
  return settled;
}
