import { Checkbox, PasswordInput, Textarea, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { useSetting } from '../../api/settings.ts';
import type { Draft, FieldProblems } from './agent-draft.ts';

export interface FieldsProps {
  draft: Draft;
  problems: FieldProblems;
  change: (part: Partial<Draft>) => void;
}

interface KindFieldsProps extends FieldsProps {
  isNew: boolean;
  /** Whether a key or secret is set. */
  hasSecret: boolean;
}

/** The fields that agents of one kind have. */
export function KindFields(props: KindFieldsProps): ReactElement | null {
  switch (props.draft.kind) {
    case 'openai':
      return <ModelFields {...props} />;
    case 'http':
      return (
        <>
          <AddressField {...props} label="Address" required />
          <SecretField {...props} label="Secret that signs requests (whsec_...)" name="secret" />
        </>
      );
    case 'daemon':
      return <CapabilitiesField {...props} />;
    case 'echo':
      return null;
  }
}

function ModelFields(props: KindFieldsProps): ReactElement {
  const { draft, problems, change } = props;
  return (
    <>
      <TextInput
        label="Model"
        required
        autoComplete="off"
        error={problems.model}
        value={draft.model}
        onChange={({ currentTarget }) => change({ model: currentTarget.value })}
      />
      <AddressField {...props} label="Address of the API" whenEmpty={usualAddressText(useSetting('OPENAI_BASE_URL'))} />
      <SecretField {...props} label="API key" name="API key" />
      <Textarea
        label="Instructions"
        autosize
        minRows={3}
        maxRows={14}
        error={problems.system}
        value={draft.system}
        onChange={({ currentTarget }) => change({ system: currentTarget.value })}
      />
    </>
  );
}

function usualAddressText(usual: unknown): string {
  if (usual === null) return 'Empty: that of the fleet (OPENAI_BASE_URL, which is not set)';
  return typeof usual === 'string' ? `Empty: ${usual}, that of the fleet (OPENAI_BASE_URL)` : 'Empty: that of the fleet (OPENAI_BASE_URL)';
}

const HIDDEN_PARTS = 'A login and a query in it are not shown; another address replaces them too';

interface AddressFieldProps extends KindFieldsProps {
  label: string;
  required?: boolean;
  whenEmpty?: string;
}

function AddressField({ draft, problems, change, isNew, label, required = false, whenEmpty }: AddressFieldProps): ReactElement {
  const description = [whenEmpty, isNew ? undefined : HIDDEN_PARTS].filter((each) => each !== undefined).join('. ');
  return (
    <TextInput
      label={label}
      {...(description === '' ? {} : { description })}
      required={required}
      type="url"
      error={problems.url}
      value={draft.url}
      onChange={({ currentTarget }) => change({ url: currentTarget.value })}
    />
  );
}

interface SecretFieldProps extends KindFieldsProps {
  label: string;
  /** What it is called in sentences. */
  name: string;
}

/** A key is never shown. An empty field leaves the one of the agent, so that removing it needs a box of its own. */
function SecretField({ draft, problems, change, hasSecret, label, name }: SecretFieldProps): ReactElement {
  const isRemoved = draft.secret === null;
  return (
    <>
      <PasswordInput
        label={label}
        {...(hasSecret ? { description: `Empty: the agent keeps its ${name}, which is never shown` } : {})}
        autoComplete="off"
        disabled={isRemoved}
        error={problems.secret}
        // Mantine only colours it.
        aria-invalid={problems.secret !== undefined}
        value={draft.secret ?? ''}
        onChange={({ currentTarget }) => change({ secret: currentTarget.value })}
      />
      {hasSecret ? (
        <Checkbox
          label={`Remove its ${name}`}
          checked={isRemoved}
          onChange={({ currentTarget }) => change({ secret: currentTarget.checked ? null : '' })}
        />
      ) : null}
    </>
  );
}

function CapabilitiesField({ draft, problems, change }: FieldsProps): ReactElement {
  return (
    <TextInput
      label="What the daemon must have"
      description="Capabilities, separated by commas"
      error={problems.capabilities}
      value={draft.capabilities}
      onChange={({ currentTarget }) => change({ capabilities: currentTarget.value })}
    />
  );
}
