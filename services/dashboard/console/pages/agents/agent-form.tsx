import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Agent } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, ONLY_NEW } from '../../api/api.ts';
import { useSetting } from '../../api/settings.ts';
import { notify } from '../../parts/actions/notices.tsx';
import { useFocusInvalid } from '../../parts/keys/use-focus-invalid.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { agentPath } from '../../routing/paths.ts';
import { changesOf, draftOf, fieldProblems, KINDS, SECOND_MS, toDefinition, type Draft } from './agent-draft.ts';
import { KindFields, type FieldsProps } from './agent-fields.tsx';
import classes from './agents.module.css';

interface AgentFormProps {
  /** The agent that is changed; null for a new agent. */
  agent: Agent | null;
  onDone: () => void;
}

/** The form that creates or changes an agent of the API. */
export function AgentForm({ agent, onDone }: AgentFormProps): ReactElement {
  // Of the agent when the form opened: what others change meanwhile is no change of this person.
  const [before] = useState(() => draftOf(agent));
  const [draft, setDraft] = useState(before);
  const queries = useQueryClient();
  const isNew = agent === null;
  const save = useMutation({
    mutationFn: async (): Promise<unknown> =>
      await (isNew
        ? answerOf(api.PUT('/v1/agents/{id}', { ...byId(draft.id), body: toDefinition(draft), headers: ONLY_NEW }))
        : saveChanges(before, draft)),
    onSuccess: () => {
      notify({ text: `The agent ${draft.id} is saved` });
      void queries.invalidateQueries({ queryKey: ['agents'] });
      onDone();
      // The page of a changed agent is shown already.
      if (isNew) navigate(agentPath(draft.id));
    },
  });
  const form = useFocusInvalid(save.error);
  const problems = fieldProblems(save.error);
  const fields: FieldsProps = {
    draft,
    problems: problems ?? {},
    change: (part) => setDraft((former) => ({ ...former, ...part })),
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form ref={form} className={classes['form']} onSubmit={submit}>
      <NameFields {...fields} isNew={isNew} />
      <KindFields {...fields} isNew={isNew} hasSecret={agent?.hasSecret === true} />
      <CommonFields {...fields} />
      {save.error === null || problems !== null ? null : <ProblemNote title="The agent was not saved" error={save.error} />}
      <div className={classes['buttons']}>
        <Button type="submit" loading={save.isPending}>
          {isNew ? 'Create' : 'Save'}
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

async function saveChanges(before: Draft, draft: Draft): Promise<void> {
  const patch = changesOf(before, draft);
  if (Object.keys(patch).length > 0) await answerOf(api.PATCH('/v1/agents/{id}', { ...byId(before.id), body: patch }));
}

function NameFields({ draft, problems, change, isNew }: FieldsProps & { isNew: boolean }): ReactElement {
  return (
    <>
      <TextInput
        label="Name"
        description="Lower-case letters, digits, “.”, “_” and “-”"
        required
        disabled={!isNew}
        // A disabled field takes no focus, and the dialog would get none.
        data-autofocus={isNew || undefined}
        autoComplete="off"
        error={problems.id}
        value={draft.id}
        onChange={({ currentTarget }) => change({ id: currentTarget.value })}
      />
      <NativeSelect
        label="Kind"
        data={KINDS.map(({ value, label }) => ({ value, label }))}
        disabled={!isNew}
        value={draft.kind}
        onChange={({ currentTarget }) => change({ kind: KINDS.find(({ value }) => value === currentTarget.value)?.value ?? 'openai' })}
      />
    </>
  );
}

function CommonFields({ draft, problems, change }: FieldsProps): ReactElement {
  const timeoutMs = useSetting('tasks.timeoutMs');
  return (
    <>
      <TextInput
        label="Description"
        autoComplete="off"
        error={problems.description}
        value={draft.description}
        onChange={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <NumberInput
        label="Tasks at once"
        description="Empty: as many as the tenant may run"
        min={1}
        error={problems.maxRunning}
        value={draft.maxRunning}
        onChange={(value) => change({ maxRunning: value })}
      />
      <NumberInput
        label="Timeout in seconds"
        description={`Empty: ${typeof timeoutMs === 'number' ? `${timeoutMs / SECOND_MS}, ` : ''}that of the fleet (tasks.timeoutMs)`}
        min={1}
        error={problems.timeoutSeconds}
        value={draft.timeoutSeconds}
        onChange={(value) => change({ timeoutSeconds: value })}
      />
    </>
  );
}
