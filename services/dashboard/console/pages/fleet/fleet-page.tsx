import type { ReactElement } from 'react';
import { useIsInstallation, useMay } from '../../api/person.ts';
import { type FleetData, readFleet } from './read-fleet.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { AttentionPanel } from '../../parts/notes/attention-panel.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { percentText } from '../../parts/numbers.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import { DaemonPanel } from './daemon-panel.tsx';
import { MachinePanel } from './machine-panel.tsx';
import { RegisterDaemon } from './register-daemon.tsx';
import { HubPanel, WorkerPanel } from './worker-panels.tsx';

const POLL_MS = 5000;

/** Who works: workers, hubs, daemons and their machines. */
export function Page(): ReactElement {
  const isInstallation = useIsInstallation();
  // A stream that names events which the key may not have is refused as a whole.
  const mayFollowFleet = useMay('operate') && isInstallation;
  const query = useLiveQuery({
    queryKey: ['fleet', isInstallation],
    queryFn: ({ signal }) => readFleet(signal),
    kinds: mayFollowFleet ? ['fleet.*', 'daemon.*'] : ['daemon.*'],
    everyMs: POLL_MS,
  });
  return (
    <PageFrame title="Fleet" actions={<RegisterDaemon />}>
      <QueryView query={query} title="The fleet could not be read">
        {(fleet) => (
          <>
            {fleet.problems.length > 0 ? <AttentionPanel items={fleet.problems} readBy="fleet" /> : null}
            <FleetStats fleet={fleet} isInstallation={isInstallation} />
            {isInstallation ? <WorkerPanel workers={fleet.workers} tasks={fleet.tasks} /> : null}
            <DaemonPanel fleet={fleet} />
            {fleet.hubs.length > 0 ? <HubPanel hubs={fleet.hubs} tasks={fleet.tasks} /> : null}
            {fleet.snapshots.length > 0 ? <MachinePanel snapshots={fleet.snapshots} /> : null}
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

/** How many work, and how full they are. */
function FleetStats({ fleet, isInstallation }: { fleet: FleetData; isInstallation: boolean }): ReactElement {
  const workers = fleet.workers.filter(({ status }) => status !== 'dead');
  const slots = workers.reduce((total, worker) => total + (worker.slots ?? 0), 0);
  const running = workers.reduce((total, worker) => total + (worker.running ?? 0), 0);
  const online = fleet.registered.filter(({ status }) => status !== 'offline').length;
  const versions = [...new Set([...workers, ...fleet.hubs].flatMap(({ version, status }) => (status === 'dead' ? [] : (version ?? []))))];
  return (
    <StatRow>
      {isInstallation ? (
        <>
          <Stat label="Workers" value={workers.length} tone={workers.length === 0 ? 'bad' : 'good'} />
          <Stat
            label="Slots in use"
            value={`${running} of ${slots}`}
            hint={<Bar label="Slots in use" value={running} of={slots} text={slots === 0 ? '' : percentText(running / slots)} />}
          />
          <Stat label="Hubs" value={fleet.hubs.filter(({ status }) => status !== 'dead').length} />
          <Stat
            label="Versions"
            value={versions.join(', ') || 'unknown'}
            {...(versions.length > 1 ? { tone: 'warn' as const, hint: 'An update is under way, or was left half done' } : {})}
          />
        </>
      ) : null}
      <Stat label="Daemons online" value={`${online} of ${fleet.registered.length}`} />
    </StatRow>
  );
}
