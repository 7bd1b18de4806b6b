import { Button, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Budget } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, itemsOf } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { WarningNote } from '../../parts/notes/warning-note.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Money, moneyText } from '../../parts/numbers.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { BudgetForm } from './budget-form.tsx';

/** The budgets, with what is spent of each; administrators change those of the tenant. */
export function BudgetPanel(): ReactElement {
  const may = useMay('admin');
  const [isCreating, setCreating] = useState(false);
  const query = useLiveQuery({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/budgets', { signal })),
    kinds: ['budget.*'],
  });
  const close = (): void => setCreating(false);
  const create = (
    <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
      New budget
    </Button>
  );
  return (
    <Panel title="Budgets" actions={may ? create : null}>
      <QueryView query={query} title="The budgets could not be read">
        {(budgets) => (
          <>
            <Warnings budgets={budgets} />
            <DataTable
              name="budgets"
              label="Budgets"
              rows={budgets}
              rowId={({ id }) => id}
              columns={COLUMNS}
              tone={toneOf}
              whenEmpty="No budget: nothing bounds what agents spend."
            />
          </>
        )}
      </QueryView>
      <Modal opened={isCreating} onClose={close} size="lg" title="New budget" closeButtonProps={{ 'aria-label': 'Close' }}>
        <BudgetForm budget={null} onClose={close} />
      </Modal>
    </Panel>
  );
}

/** Budgets that are too small for a call of their agents. */
function Warnings({ budgets }: { budgets: readonly Budget[] }): ReactElement | null {
  const small = budgets.flatMap(({ id, warnings }) => warnings.map((warning) => `${id}: ${warning}.`));
  if (small.length === 0) return null;
  return (
    <WarningNote title="Calls do not fit into a budget">
      {small.map((text) => (
        <div key={text}>{text}</div>
      ))}
    </WarningNote>
  );
}

const WINDOW_TEXTS: Readonly<Record<Budget['per'], string>> = { hour: 'an hour', day: 'a day', month: 'a month', total: 'in all' };

const COLUMNS: readonly Column<Budget>[] = [
  { id: 'id', title: 'Budget', onNarrow: 'first', cell: ({ id }) => <strong>{id}</strong>, sortValue: ({ id }) => id },
  { id: 'of', title: 'Of', width: 190, onNarrow: 'line', cell: (budget) => subjectOf(budget), sortValue: ({ scope }) => scope },
  {
    id: 'spent',
    title: 'Spent',
    width: 245,
    onNarrow: 'line',
    cell: (budget) => <Spent budget={budget} />,
    sortValue: ({ spentMicroUsd }) => spentMicroUsd,
  },
  {
    id: 'reserved',
    title: 'Reserved',
    width: 75,
    align: 'end',
    cell: ({ reservedMicroUsd }) => <Money microUsd={reservedMicroUsd} />,
    sortValue: ({ reservedMicroUsd }) => reservedMicroUsd,
  },
  {
    id: 'soft',
    title: 'Soft line',
    width: 80,
    align: 'end',
    cell: ({ softMicroUsd }) => moneyText(softMicroUsd),
    sortValue: ({ softMicroUsd }) => softMicroUsd,
  },
  {
    id: 'hard',
    title: 'Hard line',
    width: 80,
    align: 'end',
    cell: ({ hardMicroUsd }) => moneyText(hardMicroUsd),
    sortValue: ({ hardMicroUsd }) => hardMicroUsd,
  },
  {
    id: 'atHard',
    title: 'Then',
    width: 80,
    cell: ({ atHard, downgradeTo }) =>
      atHard === 'downgrade' ? <span title={`downgrade to ${downgradeTo ?? '?'}`}>downgrade</span> : atHard,
    sortValue: ({ atHard }) => atHard,
  },
  {
    id: 'held',
    title: 'Held',
    width: 55,
    align: 'end',
    cell: ({ held }) => (held ? <PageLink href="/tasks?status=pending">{held}</PageLink> : (held ?? '–')),
    sortValue: ({ held }) => held,
  },
  {
    id: 'ends',
    title: 'Window ends',
    width: 170,
    isOptional: true,
    cell: ({ windowEndsAt, tz }) => (windowEndsAt === null ? 'never' : <ClockTime at={windowEndsAt} of="window ends" zone={tz} />),
    sortValue: ({ windowEndsAt }) => windowEndsAt,
  },
  { id: 'origin', title: 'From', width: 110, isOptional: true, cell: ({ origin }) => (origin === 'config' ? 'configuration' : 'API') },
  { id: 'actions', title: 'Actions', width: 165, align: 'end', onNarrow: 'line', cell: (budget) => <BudgetActions budget={budget} /> },
];

function subjectOf({ scope, of, per }: Budget): string {
  const subject = scope === 'tenant' ? 'all of the tenant' : of === null ? `each ${scope}` : `${scope} ${of}`;
  return `${subject}, ${WINDOW_TEXTS[per]}`;
}

/** The amount of the window, of the hard line, else of the soft line. */
function Spent({ budget }: { budget: Budget }): ReactElement {
  const { id, spentMicroUsd, reservedMicroUsd, hardMicroUsd, softMicroUsd } = budget;
  const line = hardMicroUsd ?? softMicroUsd;
  if (spentMicroUsd === null) return <span title="Each name has its own count">–</span>;
  if (line === null || line === 0) return <Money microUsd={spentMicroUsd} />;
  const amount = `${moneyText(spentMicroUsd)} of ${moneyText(line)}`;
  const tone = barTone(budget);
  return (
    <Bar
      label={`Spent of ${id}, with what is reserved`}
      value={spentMicroUsd + (reservedMicroUsd ?? 0)}
      of={line}
      text={amount}
      tone={tone}
    />
  );
}

function barTone(budget: Budget): 'good' | 'warn' | 'bad' {
  return toneOf(budget) ?? 'good';
}

function toneOf({ spentMicroUsd, softMicroUsd, hardMicroUsd }: Budget): 'bad' | 'warn' | null {
  if (spentMicroUsd === null) return null;
  if (hardMicroUsd !== null && spentMicroUsd >= hardMicroUsd) return 'bad';
  return softMicroUsd !== null && spentMicroUsd >= softMicroUsd ? 'warn' : null;
}

/** Budgets of the configuration are changed there. */
function BudgetActions({ budget }: { budget: Budget }): ReactElement | null {
  const may = useMay('admin');
  const [opened, setOpened] = useState<Budget | null>(null);
  const close = (): void => setOpened(null);
  if (!may || budget.origin === 'config') return null;
  return (
    <>
      <Button size="compact-xs" variant="default" aria-label={`Change ${budget.id}`} onClick={() => setOpened(budget)}>
        Change
      </Button>{' '}
      <ActionButton
        needs="admin"
        text="Remove"
        size="compact-xs"
        danger
        run={() => answerOf(api.DELETE('/v1/budgets/{id}', byId(budget.id)))}
        done={`The budget ${budget.id} is removed`}
        refresh={[['budgets']]}
        confirm={{
          title: `Remove the budget ${budget.id}?`,
          text: 'What it counted is forgotten, and tasks that it held go on.',
          button: 'Remove',
          danger: true,
        }}
      />
      <Modal
        opened={opened !== null}
        onClose={close}
        size="lg"
        title={`Change the budget ${budget.id}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened === null ? null : <BudgetForm budget={opened} onClose={close} />}
      </Modal>
    </>
  );
}
