import { Button, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Hook } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { hookKey, HOOKS_KEY } from '../../api/query-keys.ts';
import { DIRECTIVES_WARNING, PROVIDER_TEXTS, randomSecret } from './hook-texts.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Facts } from '../../parts/layout/facts.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';
import { navigate } from '../../routing/navigation.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { HookDeliveries } from './hook-deliveries.tsx';
import { SetUpSteps } from './hook-set-up.tsx';
import { TestForm } from './hook-test.tsx';

/** One hook: what it received, how it is set up at its sender, and what it makes of an event. */
export function Page({ params }: PageProps): ReactElement {
  const id = params['id'] ?? '';
  const query = useLiveQuery({
    queryKey: hookKey(id),
    queryFn: ({ signal }) => answerOf(api.GET('/v1/hooks/{id}', { ...byId(id), signal })),
    kinds: [],
  });
  const { data } = query;
  return (
    <PageFrame
      title={data?.name ?? 'Hook'}
      note={
        data === undefined ? undefined : (
          <ToneBadge tone={data.enabled ? 'good' : 'idle'}>{data.enabled ? 'enabled' : 'disabled'}</ToneBadge>
        )
      }
      actions={data === undefined ? undefined : <HookActions hook={data} />}
    >
      <QueryView query={query} title="The hook could not be read">
        {(hook) => (
          <>
            <Panel title="Deliveries">
              <HookDeliveries hook={hook.id} />
            </Panel>
            <HookFacts hook={hook} />
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

function HookFacts({ hook }: { hook: Hook }): ReactElement {
  const { id, provider, agent, event, template, session, options, directives, formerSecretUntil, createdAt } = hook;
  const [secret, setSecret] = useState<string | null>(null);
  const change = async (): Promise<void> => {
    const next = randomSecret(provider);
    await answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(id), body: { secret: next } }));
    setSecret(next);
  };
  const hasOwnSecret = provider !== 'none' && provider !== 'stripe' && provider !== 'slack';
  const button = hasOwnSecret ? (
    <ActionButton
      needs="operate"
      text="Change secret"
      run={change}
      done="The secret is changed"
      confirm={{
        title: 'Change the secret?',
        text: 'Requests that are signed with the former secret are taken too for a while, so that the sender can change.',
        button: 'Change',
      }}
    />
  ) : null;
  return (
    <>
      <Panel title="Set-up at the sender" actions={button}>
        <SetUpSteps hook={hook} secret={secret} />
        {formerSecretUntil === null ? null : <FormerSecret hook={id} until={formerSecretUntil} />}
      </Panel>
      <Panel title="What it makes of an event" actions={<DirectivesButton hook={hook} />}>
        <Facts
          items={[
            { label: 'Sender', value: PROVIDER_TEXTS[provider] },
            event === null ? { label: 'Agent', value: agent } : { label: 'Event for runs', value: event },
            { label: 'Input', value: template === null ? 'the name of the event and the payload' : <code>{template}</code> },
            { label: 'Options', value: options === null ? 'none' : <code>{JSON.stringify(options)}</code> },
            { label: 'Session', value: session === null ? 'none' : <code>{session}</code> },
            {
              label: '/schedule lines',
              value: directives ? 'of the agent’s answers are applied' : 'of the agent’s answers stay as they are',
            },
            { label: 'Created', value: <Age at={createdAt} of="created" /> },
            { label: 'Id', value: <CopyId id={id} /> },
          ]}
        />
      </Panel>
    </>
  );
}

/** Switches whether `/schedule` lines are applied, with a warning before they are. */
function DirectivesButton({ hook: { id, directives } }: { hook: Hook }): ReactElement {
  const confirm = { title: 'Apply /schedule lines?', text: DIRECTIVES_WARNING, button: 'Apply them', danger: true };
  return (
    <ActionButton
      needs="operate"
      text={directives ? 'Leave /schedule lines' : 'Apply /schedule lines'}
      run={() => answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(id), body: { directives: !directives } }))}
      done={directives ? '/schedule lines stay as they are' : '/schedule lines are applied'}
      refresh={[hookKey(id)]}
      {...(directives ? {} : { confirm })}
    />
  );
}

/** That the former secret is valid too, and how to end it. */
function FormerSecret({ hook, until }: { hook: string; until: string }): ReactElement {
  return (
    <p>
      The former secret is valid too until <ClockTime at={until} of="end of the former secret" />.{' '}
      <ActionButton
        needs="operate"
        text="End it now"
        run={() => answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(hook), body: { keepFormerSecret: false } }))}
        done="The former secret is ended"
        refresh={[hookKey(hook)]}
        confirm={{ title: 'End the former secret?', text: 'Requests that are signed with it are refused from then on.', button: 'End it' }}
      />
    </p>
  );
}

function HookActions({ hook }: { hook: Hook }): ReactElement {
  const [isTesting, setTesting] = useState(false);
  const may = useMay('operate');
  const { id, enabled } = hook;
  const close = (): void => setTesting(false);
  const remove = async (): Promise<void> => {
    await answerOf(api.DELETE('/v1/hooks/{id}', byId(id)));
    navigate('/hooks', { replace: true });
  };
  const refresh = [HOOKS_KEY];
  return (
    <>
      {may ? (
        <Button size="xs" onClick={() => setTesting(true)}>
          Send a test
        </Button>
      ) : null}
      <ActionButton
        needs="operate"
        text={enabled ? 'Disable' : 'Enable'}
        run={() => answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(id), body: { enabled: !enabled } }))}
        undo={() => answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(id), body: { enabled } }))}
        done={enabled ? 'Disabled: its sender gets 404' : 'Enabled'}
        refresh={refresh}
      />
      <ActionButton
        needs="operate"
        danger
        text="Delete"
        run={remove}
        done="The hook is deleted"
        refresh={refresh}
        confirm={{
          title: 'Delete this hook?',
          text: 'Its sender gets 404 from then on. Tasks that it made stay.',
          button: 'Delete',
          danger: true,
        }}
      />
      <Modal opened={isTesting} onClose={close} title="Send a test" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <TestForm hook={hook} onDone={close} />
      </Modal>
    </>
  );
}
