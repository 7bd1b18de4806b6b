import { Button, NativeSelect, NumberInput, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type ReactNode, type SubmitEvent } from 'react';
import { putAgent, type Agent } from '../../api/agents.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { navigate } from '../../routing/navigation.tsx';
import { agentPath } from '../../routing/paths.ts';
import { draftOf, KINDS, toDefinition, type Draft } from './agent-draft.ts';
import classes from './agents.module.css';

interface AgentFormProps {
  /** The agent that is changed; null for a new agent. */
  agent: Agent | null;
  onDone: () => void;
}

/** The form that creates or changes an agent of the API. */
export function AgentForm({ agent, onDone }: AgentFormProps): ReactElement {
  const [draft, setDraft] = useState(() => draftOf(agent));
  const [isSending, setSending] = useState(false);
  const act = useAction();
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setSending(true);
    const run = (): Promise<unknown> => putAgent(draft.id, toDefinition(draft, agent));
    const isDone = await act({ run, done: `The agent ${draft.id} is saved`, refresh: [['agents']] });
    setSending(false);
    if (!isDone) return;
    onDone();
    navigate(agentPath(draft.id));
  };
  return (
    <form className={classes['form']} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        description="Lower-case letters, digits, “.”, “_” and “-”"
        required
        disabled={agent !== null}
        data-autofocus
        autoComplete="off"
        value={draft.id}
        onChange={({ currentTarget }) => change({ id: currentTarget.value })}
      />
      <NativeSelect
        label="Kind"
        data={KINDS.map(({ value, label }) => ({ value, label }))}
        disabled={agent !== null}
        value={draft.kind}
        onChange={({ currentTarget }) => change({ kind: KINDS.find(({ value }) => value === currentTarget.value)?.value ?? 'openai' })}
      />
      <KindFields draft={draft} change={change} hadSecret={agent?.hasSecret === true} />
      <CommonFields draft={draft} change={change} />
      <div className={classes['buttons']}>
        <Button type="submit" loading={isSending}>
          {agent === null ? 'Create' : 'Save'}
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface FieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

function CommonFields({ draft, change }: FieldsProps): ReactElement {
  return (
    <>
      <TextInput
        label="Description"
        autoComplete="off"
        value={draft.description}
        onChange={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <NumberInput
        label="Tasks at once"
        description="Empty: as many as the tenant may run"
        min={1}
        value={draft.maxRunning}
        onChange={(value) => change({ maxRunning: value })}
      />
      <NumberInput
        label="Timeout in seconds"
        description="Empty: as the configuration says"
        min={1}
        value={draft.timeoutSeconds}
        onChange={(value) => change({ timeoutSeconds: value })}
      />
    </>
  );
}

interface KindFieldsProps extends FieldsProps {
  hadSecret: boolean;
}

/** A change replaces the definition, and a key cannot be read back. */
const AGAIN = 'Give it again: a change without it removes it.';

function KindFields({ draft, change, hadSecret }: KindFieldsProps): ReactElement | null {
  switch (draft.kind) {
    case 'openai':
      return (
        <ModelFields draft={draft} change={change}>
          <SecretField draft={draft} change={change} hadSecret={hadSecret} label="API key" />
        </ModelFields>
      );
    case 'http':
      return (
        <>
          <TextInput
            label="Address"
            required
            type="url"
            value={draft.url}
            onChange={({ currentTarget }) => change({ url: currentTarget.value })}
          />
          <SecretField draft={draft} change={change} hadSecret={hadSecret} label="Secret that signs requests (whsec_...)" />
        </>
      );
    case 'daemon':
      return (
        <TextInput
          label="What the daemon must have"
          description="Capabilities, separated by commas"
          value={draft.capabilities}
          onChange={({ currentTarget }) => change({ capabilities: currentTarget.value })}
        />
      );
    case 'echo':
      return null;
  }
}

function SecretField({ draft, change, hadSecret, label }: KindFieldsProps & { label: string }): ReactElement {
  return (
    <PasswordInput
      label={label}
      {...(hadSecret ? { description: AGAIN } : {})}
      autoComplete="off"
      value={draft.secret}
      onChange={({ currentTarget }) => change({ secret: currentTarget.value })}
    />
  );
}

function ModelFields({ draft, change, children }: FieldsProps & { children: ReactNode }): ReactElement {
  return (
    <>
      <TextInput
        label="Model"
        required
        autoComplete="off"
        value={draft.model}
        onChange={({ currentTarget }) => change({ model: currentTarget.value })}
      />
      <TextInput
        label="Address of the API"
        description="Empty: OPENAI_BASE_URL"
        type="url"
        value={draft.url}
        onChange={({ currentTarget }) => change({ url: currentTarget.value })}
      />
      {children}
      <Textarea
        label="Instructions"
        autosize
        minRows={3}
        maxRows={14}
        value={draft.system}
        onChange={({ currentTarget }) => change({ system: currentTarget.value })}
      />
    </>
  );
}
