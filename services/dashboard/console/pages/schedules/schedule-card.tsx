import { Switch, Title, Tooltip } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import type { Run, Schedule } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { readRuns } from './schedule-reads.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { clockText, ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { hookPath } from '../../routing/paths.ts';
import { DeleteSchedule, EditSchedule } from './schedule-dialogs.tsx';
import { BackfillButton, RunNow, SkipNext } from './occurrence-actions.tsx';
import classes from './schedules.module.css';

export const SCHEDULE_TONES: Readonly<Record<string, Tone>> = { active: 'good', paused: 'warn', failed: 'bad' };

/** One schedule: its rule in words, its times, its runs and its actions. */
export function ScheduleCard({ schedule, onDeleted }: { schedule: Schedule; onDeleted?: () => void }): ReactElement {
  const queries = useQueryClient();
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['schedules'] });
  const change = useMutation({
    mutationFn: (status: 'active' | 'paused') =>
      answerOf(api.PATCH('/v1/schedules/{id}', { ...byId(schedule.id), body: { status: status } })),
    onSettled: refresh,
  });
  const maySubmit = useMay('submit');
  const isActive = change.isPending ? change.variables === 'active' : schedule.status === 'active';
  const name = schedule.name ?? schedule.sentence;
  return (
    <li className={`card ${classes['schedule']}`}>
      <div className={classes['head']}>
        <Title order={2} size="h5">
          <span className="faint">#{schedule.number}</span>{' '}
          <PageLink href={`/schedules?open=${encodeURIComponent(schedule.id)}`}>{name}</PageLink>
        </Title>
        <ToneBadge tone={SCHEDULE_TONES[schedule.status] ?? 'idle'}>{schedule.status}</ToneBadge>
        {maySubmit ? (
          <div className={classes['actions']}>
            <Switch
              aria-label={`${name}: enabled`}
              checked={isActive}
              disabled={!canSwitch(schedule)}
              onChange={(event) => change.mutate(event.currentTarget.checked ? 'active' : 'paused')}
            />
            <RunNow schedule={schedule} name={name} />
            <SkipNext schedule={schedule} />
            <BackfillButton schedule={schedule} name={name} />
            <EditSchedule schedule={schedule} name={name} onChanged={() => void refresh()} />
            <DeleteSchedule schedule={schedule} name={name} onDeleted={onDeleted ?? (() => void refresh())} />
          </div>
        ) : null}
      </div>
      {schedule.pausedReason ? (
        <p className={classes['reason']}>
          {schedule.status === 'failed' ? 'Failed' : 'Paused'}: {schedule.pausedReason}
        </p>
      ) : null}
      <p className={classes['message']}>{schedule.message}</p>
      <Facts schedule={schedule} />
      <RunStrip schedule={schedule.id} />
      {change.error === null ? null : <ProblemNote title="That did not work" error={change.error} />}
    </li>
  );
}

function Facts({ schedule }: { schedule: Schedule }): ReactElement {
  const { tz, agent, nextFireAt, lastRunAt, runCount, madeBy } = schedule;
  return (
    <dl className={classes['facts']}>
      <div>
        <dt>Rule</dt>
        <dd>
          {ruleOf(schedule)} <span className="faint">({breakable(tz)})</span>
        </dd>
      </div>
      <div>
        <dt>Next run</dt>
        <dd>{nextFireAt ? <ClockTime at={nextFireAt} of="next run" zone={tz} /> : 'none'}</dd>
      </div>
      <div>
        <dt>Last run</dt>
        <dd>{lastRunAt ? <ClockTime at={lastRunAt} of="last run" zone={tz} /> : 'none'}</dd>
      </div>
      <div>
        <dt>Agent</dt>
        <dd>
          {agent}, {runCount} {runCount === 1 ? 'run' : 'runs'}
        </dd>
      </div>
      {madeBy ? (
        <div>
          <dt>Made by</dt>
          <dd>
            <Maker {...madeBy} />
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

/** Who wrote the `/schedule` line, and whose words it answered. */
function Maker({ agent, hook, untrusted }: NonNullable<Schedule['madeBy']>): ReactElement {
  return (
    <>
      {agent}
      {hook === null ? null : (
        <>
          , for <PageLink href={hookPath(hook)}>a hook</PageLink>
        </>
      )}
      {untrusted ? ', from words of people outside' : null}
    </>
  );
}

/** The name of a zone, which may break after a slash. */
function breakable(zone: string): ReactNode {
  return zone.split('/').map((part, index) => (index === 0 ? part : ['/', <wbr key={part} />, part]));
}

/** The rule, unless it would repeat the heading, which is the sentence of a schedule without a name. */
function ruleOf({ kind, name, rule, sentence }: Schedule): string {
  if (name) return sentence;
  return kind === 'once' ? 'Once' : rule;
}

/** A completed schedule has no further times. */
function canSwitch({ status }: Schedule): boolean {
  return status === 'active' || status === 'paused' || status === 'failed';
}

const POLL_MS = 5000;
const SUMMARY_CHARACTERS = 120;

/** A schedule's runs, oldest first: a square each, which links to the run's task and names its result. */
export function RunStrip({ schedule }: { schedule: string }): ReactElement {
  const { data } = useQuery({
    queryKey: ['schedules', schedule, 'runs'],
    queryFn: ({ signal }) => readRuns(schedule, signal),
    refetchInterval: POLL_MS,
  });
  if (data === undefined || data.length === 0) return <p className={`faint ${classes['none']}`}>No runs yet</p>;
  return (
    <ol className={classes['strip']} aria-label="Runs, newest last">
      {data.toReversed().map((run) => (
        <li key={run.id}>
          <Tooltip label={runText(run)} withinPortal={false}>
            <a className={`${classes['run']} ${classes[run.status]}`} href={`/tasks/${run.id}`} aria-label={runText(run)} />
          </Tooltip>
        </li>
      ))}
    </ol>
  );
}

function runText(run: Run): string {
  const why = run.reason ?? run.error?.message ?? run.resultSummary ?? '';
  const text = why.length > SUMMARY_CHARACTERS ? `${why.slice(0, SUMMARY_CHARACTERS)}…` : why;
  const at = run.occurrence ?? run.startedAt;
  return `${at ? clockText(at) : 'Just now'}: ${run.status}${text === '' ? '' : `, ${text}`}`;
}
