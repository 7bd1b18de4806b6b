import { Button, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Hook } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { HOOKS_KEY } from '../../api/query-keys.ts';
import { HOOKS_SHOWN, PROVIDER_TEXTS } from './hook-texts.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import { hookPath } from '../../routing/paths.ts';
import { HookForm } from './hook-form.tsx';
import { SendEventButton } from './send-event.tsx';

const COLUMNS: readonly Column<Hook>[] = [
  { id: 'name', title: 'Name', onNarrow: 'first', cell: ({ name, id }) => name ?? id, sortValue: ({ name, id }) => name ?? id },
  {
    id: 'provider',
    title: 'Sender',
    width: 230,
    onNarrow: 'line',
    cell: ({ provider }) => PROVIDER_TEXTS[provider],
    sortValue: ({ provider }) => provider,
  },
  {
    id: 'agent',
    title: 'Agent or event',
    width: 180,
    onNarrow: 'line',
    cell: ({ agent, event }) => event ?? agent,
    sortValue: ({ agent, event }) => event ?? agent ?? '',
  },
  {
    id: 'enabled',
    title: 'State',
    width: 110,
    onNarrow: 'line',
    cell: ({ enabled }) => <ToneBadge tone={enabled ? 'good' : 'idle'}>{enabled ? 'enabled' : 'disabled'}</ToneBadge>,
    sortValue: ({ enabled }) => (enabled ? 1 : 0),
  },
  { id: 'path', title: 'Path', width: 330, cell: ({ path }) => <code>{path}</code> },
  {
    id: 'createdAt',
    title: 'Created',
    width: 120,
    cell: ({ createdAt }) => <Age at={createdAt} of="created" />,
    sortValue: ({ createdAt }) => createdAt,
  },
];

/** The addresses at which senders' webhooks become tasks. */
export function Page(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  const may = useMay('operate');
  const query = useLiveQuery({
    queryKey: HOOKS_KEY,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/hooks', { params: { query: { limit: HOOKS_SHOWN } }, signal })),
    kinds: [],
  });
  const close = (): void => setCreating(false);
  const buttons = (
    <>
      <SendEventButton />
      {may ? (
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
          New hook
        </Button>
      ) : null}
    </>
  );
  return (
    <PageFrame title="Hooks" actions={buttons}>
      <QueryView query={query} title="The hooks could not be read">
        {(hooks) => (
          <DataTable
            name="hooks"
            label="Hooks"
            rows={hooks}
            isPart={hooks.length >= HOOKS_SHOWN}
            rowId={({ id }) => id}
            columns={COLUMNS}
            href={({ id }) => hookPath(id)}
            whenEmpty="No hook yet. A hook is an address at which webhooks of GitHub, Stripe and others become tasks, or events that runs wait for."
          />
        )}
      </QueryView>
      <Modal opened={isCreating} onClose={close} title="New hook" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <HookForm onDone={close} />
      </Modal>
    </PageFrame>
  );
}
