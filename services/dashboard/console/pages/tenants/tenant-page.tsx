import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Configuration, TenantWithSize } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Facts } from '../../parts/layout/facts.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { bytesText } from '../../parts/numbers.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { navigate } from '../../routing/navigation.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { KeyPanel } from './key-panel.tsx';
import { tenantLimitFields, type LimitsRecord } from './limit-fields.ts';
import { LimitsEditor } from './limits-editor.tsx';

const DEFAULT_TENANT = 'default';

/** One tenant: its size, its keys, and its limits beside those of the configuration. */
export function Page({ params }: PageProps): ReactElement {
  const id = params['id'] ?? '';
  const query = useQuery({
    queryKey: ['tenant', id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/tenants/{id}', { ...byId(id), signal })),
  });
  const configuration = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/configuration', { signal })),
  });
  return (
    <PageFrame title={`Tenant ${id}`} actions={query.data === undefined ? null : <TenantActions tenant={query.data} />}>
      <QueryView query={query} title="The tenant could not be read">
        {(tenant) => (
          <>
            <Panel title="About it">
              <TenantFacts tenant={tenant} />
            </Panel>
            <KeyPanel tenant={id} />
            <Panel
              title="Limits"
              actions={tenant.limits === null ? <span className="faint">of the configuration</span> : <ResetLimits id={id} />}
            >
              <LimitsEditor
                label={`Limits of ${id}`}
                fields={tenantLimitFields(tenant.effectiveLimits, configuredLimits(configuration.data, tenant))}
                preview={(limits) => answerOf(api.POST('/v1/tenants/{id}/limits/preview', { ...byId(id), body: { limits } }))}
                save={(limits) => answerOf(api.PATCH('/v1/tenants/{id}', { ...byId(id), body: { limits } }))}
                refresh={['tenant', id]}
              />
            </Panel>
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

function TenantFacts({ tenant: { id, name, disabled, storedBytes, maxStoredBytes, createdAt } }: { tenant: TenantWithSize }): ReactElement {
  return (
    <Facts
      items={[
        { label: 'Name', value: name },
        { label: 'State', value: disabled ? <ToneBadge tone="warn">disabled</ToneBadge> : <ToneBadge tone="good">active</ToneBadge> },
        { label: 'Stored', value: `${bytesText(storedBytes)}${maxStoredBytes === null ? '' : ` of ${bytesText(maxStoredBytes)}`}` },
        { label: 'Made', value: id === 'default' ? 'with the fleet' : <ClockTime at={createdAt} of="made" /> },
      ]}
    />
  );
}

function TenantActions({ tenant: { id, disabled } }: { tenant: TenantWithSize }): ReactElement | null {
  if (id === DEFAULT_TENANT) return null;
  const refresh = [['tenant', id], ['tenants']];
  return (
    <>
      <ActionButton
        needs="admin"
        text={disabled ? 'Enable' : 'Disable'}
        run={() => answerOf(api.PATCH('/v1/tenants/{id}', { ...byId(id), body: { disabled: !disabled } }))}
        done={`${id} is ${disabled ? 'enabled' : 'disabled'}`}
        refresh={refresh}
        undo={() => answerOf(api.PATCH('/v1/tenants/{id}', { ...byId(id), body: { disabled } }))}
        {...(disabled
          ? {}
          : {
              confirm: {
                title: `Disable ${id}?`,
                text: 'Its keys open nothing, and its work waits until it is enabled again.',
                button: 'Disable',
              },
            })}
      />
      <ActionButton
        needs="admin"
        text="Delete"
        danger
        run={async () => {
          await answerOf(api.DELETE('/v1/tenants/{id}', byId(id)));
          navigate('/tenants');
        }}
        done={`${id} is deleted`}
        refresh={[['tenants']]}
        confirm={{
          title: `Delete ${id} with everything it owns?`,
          text: 'Its keys end, its running tasks are aborted, and its tasks, sessions, schedules and files can no longer be read. This cannot be undone.',
          button: 'Delete the tenant',
          danger: true,
        }}
      />
    </>
  );
}

function ResetLimits({ id }: { id: string }): ReactElement {
  return (
    <ActionButton
      needs="admin"
      text="Reset to the configuration"
      run={() => answerOf(api.PATCH('/v1/tenants/{id}', { ...byId(id), body: { limits: null } }))}
      done="The limits of the configuration hold again"
      refresh={[['tenant', id], ['tenants']]}
      confirm={{ title: 'Reset the limits?', text: 'The limits of the configuration hold again, for what waits too.', button: 'Reset' }}
    />
  );
}

/** The limits that the configuration gives a tenant. The installation's own has none unless they are configured for it. */
function configuredLimits(configuration: Pick<Configuration, 'items'> | undefined, tenant: TenantWithSize): LimitsRecord | null {
  if (tenant.limits === null || configuration === undefined) return tenant.effectiveLimits;
  const own = limitsBelow(configuration, `limits.tenants.${tenant.id}.`);
  if (own !== null || tenant.id === DEFAULT_TENANT) return own;
  return limitsBelow(configuration, 'limits.tenant.');
}

/** The settings below a path as a record; null when there is none. */
function limitsBelow({ items }: Pick<Configuration, 'items'>, path: string): LimitsRecord | null {
  const root: Record<string, unknown> = {};
  for (const { name, value } of items) {
    if (!name.startsWith(path)) continue;
    const parts = name.slice(path.length).split('.');
    const last = parts.pop() ?? '';
    let place = root;
    for (const part of parts) {
      const inner = (place[part] ??= {});
      if (typeof inner !== 'object' || inner === null) break;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made one line above
      place = inner as Record<string, unknown>;
    }
    place[last] = value;
  }
  return Object.keys(root).length === 0 ? null : root;
}
