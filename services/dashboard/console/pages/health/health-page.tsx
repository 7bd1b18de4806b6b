import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import type { Check, Configuration, Setting } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { type Checks, readChecks } from './read-checks.ts';
import { AttentionPanel } from '../../parts/notes/attention-panel.tsx';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import classes from './health.module.css';

/** What the fleet needs and whether it has it, and the configuration that holds. */
export function Page(): ReactElement {
  const checks = useQuery({ queryKey: ['checks'], queryFn: ({ signal }) => readChecks(signal), staleTime: Infinity });
  const configuration = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/configuration', { signal })),
  });
  const again = (
    <Button size="xs" variant="default" loading={checks.isFetching} onClick={() => void checks.refetch()}>
      Check again
    </Button>
  );
  return (
    <PageFrame title="Settings and health" actions={again}>
      <QueryView query={checks} title="The checks could not be made">
        {(found) => (
          <>
            <CheckPanel checks={found} />
            {found.others.length > 0 ? <AttentionPanel items={found.others} readBy="checks" /> : null}
          </>
        )}
      </QueryView>
      <QueryView query={configuration} title="The configuration could not be read">
        {(found) => <ConfigurationPanel configuration={found} />}
      </QueryView>
    </PageFrame>
  );
}

const TONES: Readonly<Record<Check['state'], Tone>> = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'idle' };
const STATE_TEXTS: Readonly<Record<Check['state'], string>> = { ok: 'ok', warn: 'warning', fail: 'failed', skip: 'skipped' };
const ORDER: readonly Check['state'][] = ['fail', 'warn', 'skip', 'ok'];

/** The checks, the worst first. */
function CheckPanel({ checks: { items, others, checkedAt } }: { checks: Checks }): ReactElement {
  const sorted = items.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  const bad = items.filter(({ state }) => state === 'fail' || state === 'warn').length;
  return (
    <Panel
      title={bad > 0 ? `${bad} of ${items.length} checks need a look` : wellTitle(others.length)}
      actions={
        <span className="faint">
          checked <Age at={checkedAt} of="checked" />
        </span>
      }
    >
      <ul className={classes['checks']} aria-label="Checks">
        {sorted.map(({ name, state, detail }) => (
          <li key={`${name} ${detail}`}>
            <ToneBadge tone={TONES[state]}>{STATE_TEXTS[state]}</ToneBadge>
            <strong>{name}</strong>
            <span>{detail}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Nothing is said to be well that is listed elsewhere. */
function wellTitle(others: number): string {
  return others === 0 ? 'All is well' : 'The installation is well';
}

const FILTERS = { q: 'text', all: 'flag' } as const;

/** The settings that differ from their defaults, or all. */
function ConfigurationPanel({
  configuration: { items, version, node },
}: {
  configuration: Pick<Configuration, 'items' | 'version' | 'node'>;
}): ReactElement {
  const filters = useFilters(FILTERS);
  const { q, all } = filters.values;
  const rows = useMemo(() => {
    const sought = (q ?? '').toLowerCase();
    return items.filter(({ name, differs }) => (all || differs) && name.toLowerCase().includes(sought));
  }, [items, q, all]);
  return (
    <Panel
      title="Configuration"
      actions={
        <span className="faint">
          Muster {version}, Node {node}
        </span>
      }
    >
      <FilterBar
        filters={filters}
        fields={[
          { name: 'q', kind: 'search', label: 'Search' },
          { name: 'all', kind: 'flag', label: 'Defaults too' },
        ]}
      />
      <DataTable
        name="configuration"
        label="Configuration"
        rows={rows}
        rowId={({ section, name }) => `${section} ${name}`}
        columns={COLUMNS}
        of={filters.search}
        whenEmpty={all ? 'No setting has this name.' : 'No such setting differs from its default.'}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    id: 'name',
    title: 'Setting',
    width: 360,
    onNarrow: 'first',
    cell: ({ name }) => <code title={name}>{name}</code>,
    sortValue: ({ name }) => name,
  },
  { id: 'value', title: 'Value', onNarrow: 'line', cell: ({ value }) => <Value of={value} /> },
  {
    id: 'default',
    title: 'Default',
    cell: ({ default: standard }) => (
      <span className="faint">
        <Value of={standard} />
      </span>
    ),
  },
  {
    id: 'differs',
    title: 'Differs',
    width: 90,
    isOptional: true,
    cell: ({ differs }) => (differs ? <ToneBadge tone="warn">differs</ToneBadge> : null),
    sortValue: ({ differs }) => String(differs),
  },
];

function Value({ of }: { of: unknown }): ReactElement {
  const text = of === null || of === undefined ? 'not set' : typeof of === 'string' ? of : JSON.stringify(of);
  return <span title={text}>{text === '' ? '(empty)' : text}</span>;
}
