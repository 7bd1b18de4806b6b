import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import type { FailureList, Worker } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useIsInstallation } from '../../api/person.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { countText } from '../../parts/numbers.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { plotFailures } from './failure-times.ts';
import classes from './failures.module.css';

type FailureRelease = FailureList['releases'][number];
type FailureWorker = FailureList['workers'][number];

interface FailureOverviewProps {
  pages: readonly FailureList[];
  /** The page's filters, as a query of the page of tasks. */
  search: string;
  /** When the newest of the pages was read, ms since the epoch. */
  readAt: number;
}

/** About as high as the workers beside it. */
const PLOT_PX = 200;

/** When the tasks failed, by error, and on which workers. */
export function FailureOverview({ pages, search, readAt }: FailureOverviewProps): ReactElement | null {
  const plot = useMemo(
    () =>
      plotFailures(
        pages.flatMap(({ times }) => times),
        readAt,
      ),
    [pages, readAt],
  );
  const workers = useMemo(() => mergeWorkers(pages.flatMap((page) => page.workers)), [pages]);
  const releases = useMemo(() => mergeReleases(pages.flatMap((page) => page.releases)), [pages]);
  if (plot === null) return null;
  return (
    <div className={classes['overview']}>
      <Panel title="Over time" actions={<span className="faint">of the newest 1,000</span>}>
        <Plot
          label={`Failed tasks in ${stepText(plot.stepMinutes)}`}
          times={plot.times}
          series={plot.series}
          kind="stack"
          unit="tasks"
          height={PLOT_PX}
        />
      </Panel>
      <div>
        {releases.length === 0 ? null : <ReleasesPanel releases={releases} search={search} />}
        {workers.length === 0 ? null : <WorkersPanel workers={workers} search={search} />}
      </div>
    </div>
  );
}

const HOUR_MINUTES = 60;
const DAY_MINUTES = 1440;

function stepText(minutes: number): string {
  if (minutes < HOUR_MINUTES) return `${minutes} minutes`;
  if (minutes === HOUR_MINUTES) return 'an hour';
  return minutes === DAY_MINUTES ? 'a day' : `${minutes / HOUR_MINUTES} hours`;
}

function mergeWorkers(counts: readonly FailureWorker[]): FailureWorker[] {
  const totals = new Map<string, number>();
  for (const { worker, count } of counts) totals.set(worker, (totals.get(worker) ?? 0) + count);
  return [...totals].map(([worker, count]) => ({ worker, count })).toSorted((one, other) => other.count - one.count);
}

function mergeReleases(counts: readonly FailureRelease[]): FailureRelease[] {
  const totals = new Map<string, number>();
  for (const { release, count } of counts) totals.set(release, (totals.get(release) ?? 0) + count);
  return [...totals].map(([release, count]) => ({ release, count })).toSorted((one, other) => other.count - one.count);
}

const SHOWN = 8;

/** The failed tasks of a page's filter that also have another property. */
function failedPath(search: string, name: string, value: string): string {
  return `/tasks?${new URLSearchParams([...new URLSearchParams(search), ['status', 'permanently_failed'], [name, value]])}`;
}

/** Failures of the newest only came with it. */
function ReleasesPanel({ releases, search }: { releases: readonly FailureRelease[]; search: string }): ReactElement {
  return (
    <Panel title="By release">
      <ul className={classes['workers']} aria-label="Releases with failures">
        {releases.slice(0, SHOWN).map(({ release, count }) => (
          <li key={release}>
            <PageLink href={failedPath(search, 'release', release)} aria-label={`${countText(count)} of ${release}`}>
              {countText(count)}
            </PageLink>
            <span className={classes['worker']} title={release}>
              {release}
            </span>
          </li>
        ))}
      </ul>
      {releases.length > SHOWN ? <p className="faint">and {releases.length - SHOWN} more</p> : null}
    </Panel>
  );
}

/** Each start of a worker loads its agents anew. */
function WorkersPanel({ workers, search }: { workers: readonly FailureWorker[]; search: string }): ReactElement {
  // Other tenants do not see the fleet's workers.
  const { data } = useQuery({
    queryKey: ['failures', 'workers'],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/fleet', { signal })).then((fleet) => fleet.workers),
    enabled: useIsInstallation(),
  });
  const known = data === undefined ? null : new Map(data.map((worker) => [worker.id, worker]));
  return (
    <Panel title="By worker">
      <ul className={classes['workers']} aria-label="Workers with failures">
        {workers.slice(0, SHOWN).map(({ worker, count }) => (
          <li key={worker}>
            <PageLink href={failedPath(search, 'worker', worker)} aria-label={`${countText(count)} of ${worker}`}>
              {countText(count)}
            </PageLink>
            <span className={classes['worker']} title={worker}>
              <code>{worker}</code> {known === null ? null : <Started worker={known.get(worker)} />}
            </span>
          </li>
        ))}
      </ul>
      {workers.length > SHOWN ? <p className="faint">and {workers.length - SHOWN} more</p> : null}
    </Panel>
  );
}

/** When the process started that failed, which is when it loaded its agents. */
function Started({ worker }: { worker: Worker | undefined }): ReactElement | null {
  if (worker === undefined) return <span className="faint">gone</span>;
  return worker.startedAt ? (
    <span className="faint">
      started <Age at={worker.startedAt} of="started" />
    </span>
  ) : null;
}
