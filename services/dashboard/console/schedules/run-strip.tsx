import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { readRuns } from '../api/schedule-calls.ts';
import type { Run } from '../api/schedule-records.ts';
import { zoneTime } from '../parts/zone-time.ts';
import classes from './run-strip.module.css';

const LOOK_MS = 5000;
const SUMMARY_CHARACTERS = 120;

export interface RunStripProps {
  schedule: string;
  tz: string;
}

/** A schedule's runs, the oldest first: a square each, which leads to the run's task and says what became of it. */
export function RunStrip({ schedule, tz }: RunStripProps): ReactElement {
  const { data } = useQuery({
    queryKey: ['schedules', schedule, 'runs'],
    queryFn: ({ signal }) => readRuns(schedule, signal),
    refetchInterval: LOOK_MS,
  });
  if (data === undefined || data.length === 0) return <p className={`faint ${classes['none']}`}>No runs yet</p>;
  return (
    <ol className={classes['strip']} aria-label="Runs, newest last">
      {data.toReversed().map((run) => (
        <li key={run.id}>
          <Tooltip label={runText(run, tz)} withinPortal={false}>
            <a className={`${classes['run']} ${classes[run.status]}`} href={`/tasks/${run.id}`} aria-label={runText(run, tz)} />
          </Tooltip>
        </li>
      ))}
    </ol>
  );
}

function runText(run: Run, tz: string): string {
  const why = run.reason ?? run.error?.message ?? run.resultSummary ?? '';
  const text = why.length > SUMMARY_CHARACTERS ? `${why.slice(0, SUMMARY_CHARACTERS)}…` : why;
  const at = run.occurrence ?? run.startedAt;
  return `${at ? zoneTime(at, tz) : 'Just now'}: ${run.status}${text === '' ? '' : `, ${text}`}`;
}
