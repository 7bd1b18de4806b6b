import { NativeSelect } from '@mantine/core';
import { useMemo, useState, type ReactElement } from 'react';
import type { Snapshot } from '#shared/client/openapi.gen.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import classes from './fleet.module.css';

const MS = 1000;
const MB_PER_GB = 1024;

/** Plots of one machine's snapshots, and of what the fleet ran meanwhile. */
export function MachinePanel({ snapshots }: { snapshots: readonly Snapshot[] }): ReactElement {
  const hosts = useMemo(() => [...new Set(snapshots.map(({ host }) => host))].toSorted(), [snapshots]);
  const [picked, setPicked] = useState<string | null>(null);
  const host = picked !== null && hosts.includes(picked) ? picked : (snapshots[0]?.host ?? '');
  const picker = (
    <NativeSelect aria-label="Machine" size="xs" data={hosts} value={host} onChange={(event) => setPicked(event.currentTarget.value)} />
  );
  return (
    <Panel title="Machines" actions={hosts.length > 1 ? picker : <span className="faint">{host}</span>}>
      <MachinePlots own={snapshots.filter((snapshot) => snapshot.host === host).toReversed()} all={snapshots.toReversed()} />
    </Panel>
  );
}

interface MachinePlotsProps {
  /** Of the machine, oldest first. */
  own: readonly Snapshot[];
  /** Of all machines, which each count the whole fleet. */
  all: readonly Snapshot[];
}

function MachinePlots({ own, all }: MachinePlotsProps): ReactElement {
  const times = own.map(({ at }) => Date.parse(at) / MS);
  const fleetTimes = all.map(({ at }) => Date.parse(at) / MS);
  const total = (own.at(-1)?.totalMemoryMb ?? 0) / MB_PER_GB;
  return (
    <div className={classes['plots']}>
      <Plot
        label="Processor"
        times={times}
        unit="%"
        series={[{ name: 'in use', values: own.map(({ cpuPercent }) => cpuPercent), tone: 'busy' }]}
      />
      <Plot
        label={`Memory, of ${total.toFixed(1)} GB`}
        times={times}
        unit="GB"
        series={[{ name: 'in use', values: own.map(({ memoryMb }) => memoryMb / MB_PER_GB), tone: 'warn' }]}
      />
      <Plot label="Load" times={times} unit="" series={[{ name: 'one minute', values: own.map(({ load }) => load), tone: 'idle' }]} />
      <Plot
        label="The fleet"
        times={fleetTimes}
        unit=""
        series={[
          { name: 'attempts', values: all.map(({ running }) => running), tone: 'busy' },
          { name: 'workers', values: all.map(({ activeWorkers }) => activeWorkers), tone: 'good' },
          { name: 'lanes held', values: all.map(({ lanesHeld }) => lanesHeld), tone: 'idle' },
        ]}
      />
    </div>
  );
}
