import { Button, Switch, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { runScheduleNow, setScheduleStatus } from '../api/schedule-calls.ts';
import type { Schedule } from '../api/schedule-records.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Tone } from '../parts/status-tones.ts';
import { ToneBadge } from '../parts/status-badge.tsx';
import { zoneTime } from '../parts/zone-time.ts';
import { DeleteSchedule } from './delete-schedule.tsx';
import { EditSchedule } from './edit-schedule.tsx';
import { RunStrip } from './run-strip.tsx';
import classes from './schedules.module.css';

const TONES: Readonly<Record<string, Tone>> = { active: 'good', paused: 'warn', failed: 'bad' };

/** One schedule: its rule in words, its times, its runs, and what one can do with it. */
export function ScheduleCard({ schedule }: { schedule: Schedule }): ReactElement {
  const queries = useQueryClient();
  const lookAgain = (): Promise<void> => queries.invalidateQueries({ queryKey: ['schedules'] });
  const change = useMutation({ mutationFn: (status: 'active' | 'paused') => setScheduleStatus(schedule.id, status), onSettled: lookAgain });
  const run = useMutation({ mutationFn: () => runScheduleNow(schedule.id), onSettled: lookAgain });
  const isActive = change.isPending ? change.variables === 'active' : schedule.status === 'active';
  const name = schedule.name ?? schedule.sentence;
  const problem = change.error ?? run.error;
  return (
    <li className={`card ${classes['schedule']}`}>
      <div className={classes['head']}>
        <Title order={2} size="h5">
          <span className="faint">#{schedule.number}</span> {name}
        </Title>
        <ToneBadge tone={TONES[schedule.status] ?? 'idle'}>{schedule.status}</ToneBadge>
        <div className={classes['actions']}>
          <Switch
            aria-label={`${name}: enabled`}
            checked={isActive}
            disabled={!canSwitch(schedule)}
            onChange={(event) => change.mutate(event.currentTarget.checked ? 'active' : 'paused')}
          />
          <Button size="xs" variant="default" leftSection={<Icon name="play" size={14} />} onClick={() => run.mutate()}>
            Run now
          </Button>
          <EditSchedule schedule={schedule} name={name} onChanged={() => void lookAgain()} />
          <DeleteSchedule schedule={schedule} name={name} onDeleted={() => void lookAgain()} />
        </div>
      </div>
      {schedule.pausedReason ? (
        <p className={classes['reason']}>
          {schedule.status === 'failed' ? 'Failed' : 'Paused'}: {schedule.pausedReason}
        </p>
      ) : null}
      <p className={classes['message']}>{schedule.message}</p>
      <Facts schedule={schedule} />
      <RunStrip schedule={schedule.id} tz={schedule.tz} />
      {problem === null ? null : <ProblemNote title="That did not work" error={problem} />}
    </li>
  );
}

function Facts({ schedule }: { schedule: Schedule }): ReactElement {
  const { tz, agent, nextFireAt, lastRunAt, runCount } = schedule;
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
        <dd>{nextFireAt ? <time dateTime={nextFireAt}>{zoneTime(nextFireAt, tz)}</time> : 'none'}</dd>
      </div>
      <div>
        <dt>Last run</dt>
        <dd>{lastRunAt ? <time dateTime={lastRunAt}>{zoneTime(lastRunAt, tz)}</time> : 'none'}</dd>
      </div>
      <div>
        <dt>Agent</dt>
        <dd>
          {agent}, {runCount} {runCount === 1 ? 'run' : 'runs'}
        </dd>
      </div>
    </dl>
  );
}

/** The name of a zone, which may go on in the next line after a slash. */
function breakable(zone: string): ReactNode {
  return zone.split('/').map((part, place) => (place === 0 ? part : ['/', <wbr key={part} />, part]));
}

/** Where there is no name the heading is the sentence; the one time of a one-shot is said there, or with its runs. */
function ruleOf({ kind, name, rule, sentence }: Schedule): string {
  if (name) return sentence;
  return kind === 'once' ? 'Once' : rule;
}

/** One that is over has no further times to switch on. */
function canSwitch({ status }: Schedule): boolean {
  return status === 'active' || status === 'paused' || status === 'failed';
}
