import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState, type FormEvent, type ReactElement } from 'react';
import type { Key } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, itemsOf } from '../../api/api.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import classes from './tenants.module.css';

/** The keys of a tenant; their secrets are shown when they are made, and never again. */
export function KeyPanel({ tenant }: { tenant: string }): ReactElement {
  const [isCreating, setCreating] = useState(false);
  const query = useQuery({
    queryKey: ['keys', tenant],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/tenants/{id}/keys', { ...byId(tenant), signal })),
  });
  const columns = useMemo(() => columnsOf(tenant), [tenant]);
  const close = (): void => setCreating(false);
  return (
    <Panel
      title="Keys"
      actions={
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      <QueryView query={query} title="The keys could not be read">
        {(keys) => (
          <DataTable
            name="keys"
            label="Keys"
            rows={keys}
            rowId={({ id }) => id}
            columns={columns}
            whenEmpty="No key: nobody can call the API as this tenant."
          />
        )}
      </QueryView>
      <Modal opened={isCreating} onClose={close} size="lg" title="New key" closeButtonProps={{ 'aria-label': 'Close' }}>
        <KeyForm tenant={tenant} onClose={close} />
      </Modal>
    </Panel>
  );
}

function columnsOf(tenant: string): Column<Key>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      width: 220,
      onNarrow: 'first',
      cell: ({ name }) => <strong>{name}</strong>,
      sortValue: ({ name }) => name,
    },
    {
      id: 'scopes',
      title: 'May',
      width: 200,
      onNarrow: 'line',
      cell: ({ scopes }) => scopes.join(', '),
      sortValue: ({ scopes }) => scopes.join(','),
    },
    { id: 'id', title: 'Id', width: 220, cell: ({ id }) => <code>{id}</code>, sortValue: ({ id }) => id },
    {
      id: 'created',
      title: 'Made',
      width: 110,
      cell: ({ createdAt }) => <Age at={createdAt} of="made" />,
      sortValue: ({ createdAt }) => createdAt,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 100,
      align: 'end',
      onNarrow: 'line',
      cell: ({ id, name }) => (
        <ActionButton
          needs="admin"
          text="Revoke"
          size="compact-xs"
          danger
          run={() => answerOf(api.DELETE('/v1/tenants/{id}/keys/{keyId}', { params: { path: { id: tenant, keyId: id } } }))}
          done={`The key ${name} is revoked`}
          refresh={[['keys', tenant]]}
          confirm={{
            title: `Revoke the key ${name}?`,
            text: 'It opens nothing any more, at once, and browsers that signed in with it are signed out. This cannot be undone.',
            button: 'Revoke',
            danger: true,
          }}
        />
      ),
    },
  ];
}

/** Each scope includes those after it, but for `journal`, which includes `read` alone, and `submit`, which does not include `answer`. */
const SCOPES = [
  { value: 'admin', label: 'admin: everything, with keys and limits' },
  { value: 'operate', label: 'operate: also queues, hooks and daemons' },
  { value: 'journal', label: 'journal: also see what steps of runs gave, but change nothing' },
  { value: 'submit', label: 'submit: also make, cancel and retry tasks' },
  { value: 'answer', label: 'answer: also answer questions of runs, but make no tasks' },
  { value: 'read', label: 'read: see everything, change nothing' },
  { value: 'scaling', label: 'scaling: read how many workers there should be' },
] as const;

function KeyForm({ tenant, onClose }: { tenant: string; onClose: () => void }): ReactElement {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<(typeof SCOPES)[number]['value']>('submit');
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/tenants/{id}/keys', { ...byId(tenant), body: { name: name.trim(), scopes: [scope] } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['keys', tenant] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate();
  };
  if (make.data !== undefined) {
    return (
      <>
        <SecretOnce title={`The key ${make.data.name}`} secret={make.data.secret} />
        <div className={classes['buttons']}>
          <Button onClick={onClose}>I have copied it</Button>
        </div>
      </>
    );
  }
  return (
    <form className={classes['form']} onSubmit={submit}>
      <TextInput
        label="Name"
        description="For people."
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label="May"
        data={[...SCOPES]}
        value={scope}
        onChange={(event) => setScope(SCOPES.find(({ value }) => value === event.currentTarget.value)?.value ?? 'read')}
      />
      {make.error === null ? null : <ProblemNote title="It was not made" error={make.error} />}
      <div className={classes['buttons']}>
        <Button type="submit" loading={make.isPending}>
          Make key
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
