import { Button, NativeSelect, Switch, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Hook, HookRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { HOOKS_KEY } from '../../api/query-keys.ts';
import { DIRECTIVES_WARNING, handsOverSecret, type Provider, PROVIDER_TEXTS, PROVIDERS, randomSecret } from './hook-texts.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { navigate } from '../../routing/navigation.tsx';
import { hookPath } from '../../routing/paths.ts';
import { type ChosenOptions, HookOptions, optionsOf } from './hook-options.tsx';
import { SetUpSteps } from './hook-set-up.tsx';
import classes from './hooks.module.css';

interface Draft {
  provider: Provider;
  /** Whether it sends events to runs instead of making tasks. */
  sendsEvents: boolean;
  event: string;
  agent: string | null;
  name: string;
  template: string;
  session: string;
  options: ChosenOptions;
  directives: boolean;
}

const EMPTY: Draft = {
  provider: 'github',
  sendsEvents: false,
  event: '',
  agent: null,
  name: '',
  template: '',
  session: '',
  options: { header: 'X-Signature' },
  directives: false,
};

/** The form for a new hook, then its secret, which is shown once, with what to do at the sender. */
export function HookForm({ onDone }: { onDone: () => void }): ReactElement {
  const [draft, setDraft] = useState(EMPTY);
  const [made, setMade] = useState<{ hook: Hook; secret: string | null } | null>(null);
  const [isSending, setSending] = useState(false);
  const agents = useAgentNames();
  const act = useAction();
  const agent = draft.agent ?? agents[0] ?? '';
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setSending(true);
    const hasNone = draft.provider === 'none' || handsOverSecret(draft.options);
    const secret = hasNone ? null : randomSecret(draft.provider);
    const run = async (): Promise<void> =>
      setMade({ hook: await answerOf(api.POST('/v1/hooks', { body: toNewHook(draft, agent, secret) })), secret });
    await act({ run, done: 'The hook is created', refresh: [HOOKS_KEY] });
    setSending(false);
  };
  if (made !== null) return <MadeHook {...made} onDone={onDone} />;
  return (
    <form className={classes['form']} onSubmit={(event) => void submit(event)}>
      <HookFields draft={draft} change={change} agents={agents} agent={agent} />
      <div className={classes['buttons']}>
        <Button type="submit" loading={isSending} disabled={draft.sendsEvents ? draft.event === '' : agent === ''}>
          Create
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface HookFieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  agents: readonly string[];
  /** The chosen agent. */
  agent: string;
}

function HookFields({ draft, change, agents, agent }: HookFieldsProps): ReactElement {
  return (
    <>
      <NativeSelect
        label="Sender"
        data-autofocus
        data={PROVIDERS.map((value) => ({ value, label: PROVIDER_TEXTS[value] }))}
        value={draft.provider}
        onChange={({ currentTarget }) => change({ provider: PROVIDERS.find((each) => each === currentTarget.value) ?? 'github' })}
      />
      <HookOptions provider={draft.provider} chosen={draft.options} change={(options) => change({ options })} />
      <NativeSelect
        label="A webhook"
        data={[
          { value: 'task', label: 'makes a task' },
          { value: 'event', label: 'is an event that runs wait for' },
        ]}
        value={draft.sendsEvents ? 'event' : 'task'}
        onChange={({ currentTarget }) => change({ sendsEvents: currentTarget.value === 'event' })}
      />
      <TextInput
        label="Name"
        autoComplete="off"
        value={draft.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
      />
      {draft.sendsEvents ? (
        <TextInput
          label="Name of the event"
          description="What runs wait for by context.waitFor. They get the payload as its data."
          required
          autoComplete="off"
          value={draft.event}
          onChange={({ currentTarget }) => change({ event: currentTarget.value })}
        />
      ) : (
        <TaskFields draft={draft} change={change} agents={agents} agent={agent} />
      )}
    </>
  );
}

/** What a task of the hook is made of. */
function TaskFields({ draft, change, agents, agent }: HookFieldsProps): ReactElement {
  return (
    <>
      <NativeSelect
        label="Agent"
        data={[...agents]}
        value={agent}
        onChange={({ currentTarget }) => change({ agent: currentTarget.value })}
      />
      <Textarea
        label="Input of the task"
        description="A template over event, delivery and payload, like “{{payload.action}} #{{payload.number}}”. Without it, the event's name and the payload."
        autosize
        minRows={2}
        maxRows={10}
        value={draft.template}
        onChange={({ currentTarget }) => change({ template: currentTarget.value })}
      />
      <TextInput
        label="Session"
        description="A template, too: events with the same session run one after the other; an event without one of its values has no session."
        autoComplete="off"
        value={draft.session}
        onChange={({ currentTarget }) => change({ session: currentTarget.value })}
      />
      <Switch
        label="Apply /schedule lines in its answers"
        description={DIRECTIVES_WARNING}
        checked={draft.directives}
        onChange={({ currentTarget }) => change({ directives: currentTarget.checked })}
      />
    </>
  );
}

interface MadeHookProps {
  hook: Hook;
  secret: string | null;
  onDone: () => void;
}

/** The set-up of a new hook, with its secret. */
function MadeHook({ hook, secret, onDone }: MadeHookProps): ReactElement {
  const show = (): void => {
    onDone();
    navigate(hookPath(hook.id));
  };
  return (
    <div className={classes['form']}>
      <SetUpSteps hook={hook} secret={secret} />
      <div className={classes['buttons']}>
        <Button onClick={show}>Show the hook</Button>
      </div>
    </div>
  );
}

function toNewHook(draft: Draft, agent: string, secret: string | null): HookRequest {
  const { provider, name, template, session, options: chosen, directives, sendsEvents, event } = draft;
  const options = optionsOf(provider, chosen);
  const task = {
    agent,
    ...(template === '' ? {} : { template }),
    ...(session === '' ? {} : { session }),
    ...(directives ? { directives } : {}),
  };
  return {
    provider,
    ...(secret === null ? {} : { secret }),
    ...(name === '' ? {} : { name }),
    ...(options === undefined ? {} : { options }),
    ...(sendsEvents ? { event } : task),
  };
}
