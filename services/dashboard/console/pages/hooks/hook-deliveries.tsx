import { useMemo, type ReactElement } from 'react';
import type { HookDelivery } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { hookKey } from '../../api/query-keys.ts';
import { HOOKS_SHOWN } from './hook-texts.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Facts } from '../../parts/layout/facts.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { bytesText } from '../../parts/numbers.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useDataKey } from '../../parts/table/data-key.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { TextView } from '../../parts/text/text-view.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { hookPath, taskPath } from '../../routing/paths.ts';
import { useFilters } from '../../routing/use-filters.ts';
import classes from './hooks.module.css';

const FILTERS = { delivery: 'text' } as const;
const POLL_MS = 3000;

const TONES: Readonly<Record<HookDelivery['verdict'], Tone>> = { accepted: 'good', repeated: 'idle', handshake: 'idle', refused: 'bad' };

const COLUMNS: readonly Column<HookDelivery>[] = [
  {
    id: 'event',
    title: 'Event',
    onNarrow: 'first',
    cell: ({ event, origin }) => `${event ?? 'unknown'}${origin === 'sender' ? '' : ` (${origin})`}`,
  },
  {
    id: 'verdict',
    title: 'Verdict',
    width: 120,
    onNarrow: 'line',
    cell: ({ verdict }) => <ToneBadge tone={TONES[verdict]}>{verdict}</ToneBadge>,
  },
  { id: 'reason', title: 'Reason', cell: ({ reason }) => reason ?? '' },
  { id: 'task', title: 'Task', width: 270, cell: ({ taskId }) => (taskId === null ? '' : <TaskLink id={taskId} />) },
  { id: 'bytes', title: 'Size', width: 90, align: 'end', cell: ({ bytes }) => (bytes === null ? '' : bytesText(bytes)) },
  { id: 'at', title: 'Received', width: 120, onNarrow: 'line', cell: ({ at }) => <Age at={at} of="received" /> },
];

const IDENTITY_TEXTS = { id: "the sender's id", signed: 'what was signed', none: 'nothing: each is taken' } as const;

function TaskLink({ id }: { id: string }): ReactElement {
  return <PageLink href={taskPath({ id, tenant: null })}>{id}</PageLink>;
}

/** The newest deliveries of a hook, and the delivery whose id is in the address. */
export function HookDeliveries({ hook }: { hook: string }): ReactElement {
  const { values } = useFilters(FILTERS);
  const query = useLiveQuery({
    queryKey: [...hookKey(hook), 'deliveries'],
    queryFn: ({ signal }) =>
      itemsOf(api.GET('/v1/hooks/{id}/deliveries', { params: { path: { id: hook }, query: { limit: HOOKS_SHOWN } }, signal })),
    kinds: [],
    everyMs: POLL_MS,
  });
  const of = useDataKey(hook, query.isPlaceholderData);
  const href = useMemo(() => (row: HookDelivery) => `${hookPath(hook)}?delivery=${row.id}`, [hook]);
  return (
    <>
      {values.delivery === null ? null : <OneDelivery hook={hook} id={values.delivery} />}
      <QueryView query={query} title="The deliveries could not be read">
        {(deliveries) => (
          <DataTable
            name="hook-deliveries"
            label="Deliveries"
            rows={deliveries}
            isPart={deliveries.length >= HOOKS_SHOWN}
            of={of}
            rowId={({ id }) => id}
            columns={COLUMNS}
            href={href}
            tone={({ verdict }) => (verdict === 'refused' ? 'bad' : null)}
            whenEmpty="Nothing was received lately. Refused requests appear here, too."
          />
        )}
      </QueryView>
    </>
  );
}

function OneDelivery({ hook, id }: { hook: string; id: string }): ReactElement {
  const query = useLiveQuery({
    queryKey: [...hookKey(hook), 'deliveries', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/v1/hooks/{id}/deliveries/{delivery}', { params: { path: { id: hook, delivery: id } }, signal })),
    kinds: [],
  });
  return (
    <section className={classes['delivery']} aria-label="Delivery">
      <QueryView query={query} title="The delivery could not be read">
        {({ at, verdict, code, reason, delivery, identity, taskId, payload, mayReplay }) => (
          <>
            <Facts
              items={[
                { label: 'Received', value: <ClockTime at={at} of="received" /> },
                { label: 'Verdict', value: <ToneBadge tone={TONES[verdict]}>{verdict}</ToneBadge> },
                { label: 'Reason', value: reason === null ? null : `${reason}${code === null ? '' : ` [${code}]`}` },
                { label: 'Recognized by', value: identity === null ? null : IDENTITY_TEXTS[identity] },
                { label: 'Delivery', value: delivery },
                { label: 'Task', value: taskId === null ? null : <TaskLink id={taskId} /> },
              ]}
            />
            <TextView text={payload} label="Payload" />
            <div className={classes['buttons']}>
              {mayReplay ? (
                <ActionButton
                  needs="operate"
                  text="Replay"
                  run={() =>
                    answerOf(api.POST('/v1/hooks/{id}/deliveries/{delivery}/replay', { params: { path: { id: hook, delivery: id } } }))
                  }
                  done="Another task was made of it"
                  refresh={[hookKey(hook)]}
                  confirm={{ title: 'Replay this delivery?', text: 'It makes another task with the hook as it is now.', button: 'Replay' }}
                />
              ) : null}
              <PageLink href={hookPath(hook)}>Close</PageLink>
            </div>
          </>
        )}
      </QueryView>
    </section>
  );
}
