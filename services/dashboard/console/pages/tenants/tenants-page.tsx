import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Tenant } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { useIsInstallation, useMay, usePerson } from '../../api/person.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { KeyPanel } from './key-panel.tsx';
import { fleetLimitFields } from './limit-fields.ts';
import { LimitsEditor } from './limits-editor.tsx';
import classes from './tenants.module.css';

/** The tenants and the fleet's limits for the installation; the own keys for administrators of other tenants. */
export function Page(): ReactElement | null {
  const isInstallation = useIsInstallation();
  const { data: person } = usePerson();
  if (person === undefined) return null;
  if (!isInstallation) {
    return (
      <PageFrame title="Keys" note={`of the tenant ${person.tenant}`}>
        <KeyPanel tenant={person.tenant} />
      </PageFrame>
    );
  }
  return (
    <PageFrame title="Tenants" actions={<NewTenant />}>
      <TenantPanel />
      <FleetLimitsPanel />
    </PageFrame>
  );
}

/** The address of a tenant's page. */
function tenantPage(id: string): string {
  return `/tenants/${encodeURIComponent(id)}`;
}

function TenantPanel(): ReactElement {
  const query = useQuery({ queryKey: ['tenants'], queryFn: ({ signal }) => itemsOf(api.GET('/v1/tenants', { signal })) });
  return (
    <Panel title="Tenants">
      <QueryView query={query} title="The tenants could not be read">
        {(tenants) => (
          <DataTable
            name="tenants"
            label="Tenants"
            rows={tenants}
            rowId={({ id }) => id}
            columns={COLUMNS}
            href={({ id }) => tenantPage(id)}
            whenEmpty="There is no tenant besides the installation's own."
          />
        )}
      </QueryView>
    </Panel>
  );
}

const COLUMNS: readonly Column<Tenant>[] = [
  { id: 'id', title: 'Tenant', width: 200, onNarrow: 'first', cell: ({ id }) => id, sortValue: ({ id }) => id },
  { id: 'name', title: 'Name', width: 260, onNarrow: 'line', cell: ({ name }) => name, sortValue: ({ name }) => name },
  {
    id: 'state',
    title: 'State',
    width: 100,
    onNarrow: 'line',
    cell: ({ disabled }) => (disabled ? <ToneBadge tone="warn">disabled</ToneBadge> : <ToneBadge tone="good">active</ToneBadge>),
    sortValue: ({ disabled }) => String(disabled),
  },
  {
    id: 'limits',
    title: 'Limits',
    width: 140,
    cell: ({ limits }) => (limits === null ? <span className="faint">default</span> : 'its own'),
    sortValue: ({ limits }) => (limits === null ? 'default' : 'own'),
  },
  {
    id: 'created',
    title: 'Made',
    width: 110,
    cell: ({ id, createdAt }) => (id === 'default' ? <span className="faint">with the fleet</span> : <Age at={createdAt} of="made" />),
    sortValue: ({ createdAt }) => createdAt,
  },
];

function NewTenant(): ReactElement | null {
  const may = useMay('admin');
  const [isOpen, setOpen] = useState(false);
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/tenants', { body: { id: id.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }) } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['tenants'] });
      navigate(tenantPage(id.trim()));
    },
  });
  const close = (): void => setOpen(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate();
  };
  if (!may) return null;
  return (
    <>
      <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setOpen(true)}>
        New tenant
      </Button>
      <Modal opened={isOpen} onClose={close} title="New tenant" closeButtonProps={{ 'aria-label': 'Close' }}>
        <form className={classes['form']} onSubmit={submit}>
          <TextInput
            label="Id"
            description="In addresses and headers; it cannot be changed."
            required
            data-autofocus
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <TextInput
            label="Name"
            description="For people; by default the id."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {make.error === null ? null : <ProblemNote title="It was not made" error={make.error} />}
          <div className={classes['buttons']}>
            <Button type="submit" loading={make.isPending}>
              Make tenant
            </Button>
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}

/** What all tenants together may run and send. */
function FleetLimitsPanel(): ReactElement {
  const query = useQuery({ queryKey: ['fleet-limits'], queryFn: ({ signal }) => answerOf(api.GET('/v1/limits', { signal })) });
  const reset = (
    <ActionButton
      needs="admin"
      text="Reset to the configuration"
      run={() => answerOf(api.DELETE('/v1/limits'))}
      done="The limits of the configuration hold again"
      refresh={[['fleet-limits']]}
      confirm={{ title: 'Reset the limits?', text: 'The limits of the configuration hold again, for what waits too.', button: 'Reset' }}
    />
  );
  return (
    <Panel
      title="Limits of the fleet"
      actions={query.data?.origin === 'api' ? reset : <span className="faint">of all tenants together</span>}
    >
      <QueryView query={query} title="The limits could not be read">
        {({ limits, configured }) => (
          <LimitsEditor
            label="Limits of all tenants together"
            fields={fleetLimitFields(limits, configured)}
            preview={(patch) => answerOf(api.POST('/v1/limits/preview', { body: { limits: patch } }))}
            save={(patch) => answerOf(api.PATCH('/v1/limits', { body: patch }))}
            refresh={['fleet-limits']}
          />
        )}
      </QueryView>
    </Panel>
  );
}
