import type { ReactElement, ReactNode } from 'react';
import type { MinuteMetrics } from '#shared/client/openapi.gen.ts';
import type { NowParts } from './read-now.ts';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count, moneyText } from '../../parts/numbers.tsx';
import { Bar, Sparkline } from '../../parts/plot/sparkline.tsx';
import { durationText } from '../../parts/time.tsx';
import type { Tone } from '../../parts/tone.ts';

/** The fleet in six numbers, with their last hour. */
export function NowStats({ parts: { now, metrics, history } }: { parts: NowParts }): ReactElement {
  const lineOf = (label: string, field: keyof Omit<MinuteMetrics, 'at' | 'queues'>, tone: Tone = 'busy'): ReactNode =>
    history.length > 1 ? (
      <Sparkline label={`${label}, last hour`} values={history.map((minute) => minute[field])} tone={tone} />
    ) : undefined;
  const { total_daemon_capacity: slots, used_daemon_capacity: used } = metrics;
  const failed = metrics.tasks_failed_per_minute;
  const spent = spendOf(history);
  return (
    <StatRow>
      <Stat
        label="Running"
        value={<Count value={now.runningTotal} />}
        href="/tasks?status=running"
        hint={
          <>
            <Bar label="Slots" value={used} of={slots} />
            {lineOf('Running', 'running')}
          </>
        }
      />
      <Stat
        label="Waiting"
        value={<Count value={metrics.queue_depth_total} />}
        href="/tasks?status=pending,queued"
        hint={lineOf('Waiting', 'waiting')}
      />
      <Stat
        label="Completed a minute"
        value={<Count value={metrics.tasks_completed_per_minute} />}
        hint={lineOf('Completed', 'completed')}
      />
      <Stat
        label="Failed a minute"
        value={<Count value={failed} />}
        href="/tasks?status=permanently_failed"
        hint={lineOf('Failed', 'failed', 'bad')}
        {...(failed > 0 ? { tone: 'bad' as const } : {})}
      />
      <WaitStat history={history} metrics={metrics}>
        {lineOf('Wait, p95', 'waitP95Ms')}
      </WaitStat>
      {spent === null ? null : (
        <Stat label="Spent in an hour" value={moneyText(spent)} href="/usage" hint={lineOf('Spent', 'costMicroUsd')} />
      )}
    </StatRow>
  );
}

interface WaitStatProps extends Pick<NowParts, 'history' | 'metrics'> {
  /** Its sparkline. */
  children: ReactNode;
}

function WaitStat({ history, metrics, children }: WaitStatProps): ReactElement {
  const { value, hint } = waitOf(history, metrics);
  return (
    <Stat
      label="Wait before a start"
      value={value}
      hint={
        <>
          {hint}
          {children}
        </>
      }
    />
  );
}

/** Of the last minute in which a task started; the mean where there is no history. */
function waitOf(history: readonly MinuteMetrics[], metrics: NowParts['metrics']): { value: string; hint: string } {
  const last = history.findLast(({ waitP50Ms }) => typeof waitP50Ms === 'number');
  if (last === undefined) {
    return {
      value: durationText(metrics.avg_queue_wait_time_ms),
      hint: `mean; p99 ${durationText(metrics.p99_queue_wait_time_ms)}`,
    };
  }
  return { value: durationText(last.waitP50Ms ?? 0), hint: `median; p95 ${durationText(last.waitP95Ms ?? 0)}` };
}

/** Null where nothing was counted. */
function spendOf(history: readonly MinuteMetrics[]): number | null {
  const known = history.flatMap(({ costMicroUsd }) => costMicroUsd ?? []);
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0);
}
