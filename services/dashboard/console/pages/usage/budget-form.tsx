import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Budget, BudgetPreview } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, ONLY_NEW } from '../../api/api.ts';
import { ApiProblem } from '../../api/api-problem.ts';
import { BUDGET_ACTIONS, BUDGET_SCOPES, BUDGET_WINDOWS } from './budget-draft.ts';
import { moneyText } from '../../parts/numbers.tsx';
import { useFocusInvalid } from '../../parts/keys/use-focus-invalid.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { emptyBudget, toBudgetDraft, toBudgetRule, type BudgetDraft } from './budget-draft.ts';
import classes from './usage.module.css';

interface BudgetFormProps {
  /** The budget that is changed; null for a new budget. */
  budget: Budget | null;
  onClose: () => void;
}

/** The form of a budget, with what it would have done to the tasks of the last week. */
export function BudgetForm({ budget, onClose }: BudgetFormProps): ReactElement {
  const [draft, setDraft] = useState(() => (budget === null ? emptyBudget() : toBudgetDraft(budget)));
  const queries = useQueryClient();
  const preview = useMutation({ mutationFn: () => answerOf(api.POST('/v1/budgets/preview', { body: toBudgetRule(draft) })) });
  const save = useMutation({
    mutationFn: () => {
      const rule = { ...byId(draft.id.trim()), body: toBudgetRule(draft) };
      return answerOf(api.PUT('/v1/budgets/{id}', budget === null ? { ...rule, headers: ONLY_NEW } : rule));
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['budgets'] });
      onClose();
    },
  });
  const change = (changes: Partial<BudgetDraft>): void => {
    setDraft({ ...draft, ...changes });
    preview.reset();
    save.reset();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  const nameProblem = nameProblemOf(save.error);
  const form = useFocusInvalid(save.error);
  const problem = nameProblem === null ? (save.error ?? preview.error) : null;
  return (
    <form ref={form} className={classes['form']} onSubmit={submit}>
      <BudgetFields draft={draft} isNew={budget === null} nameProblem={nameProblem} onChange={change} />
      {preview.data === undefined ? null : <Previewed preview={preview.data} />}
      {problem === null ? null : (
        <ProblemNote title={save.error === null ? 'It cannot be previewed' : 'It was not saved'} error={problem} />
      )}
      <div className={classes['buttons']}>
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
        <Button variant="default" loading={preview.isPending} onClick={() => preview.mutate()}>
          Preview
        </Button>
        <Button variant="subtle" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** Of a name that a budget has already; null for another error. */
function nameProblemOf(error: unknown): string | null {
  const isTaken = error instanceof ApiProblem && (error.code === 'budget.exists' || error.code === 'budget.operator-only');
  return isTaken ? `${error.message}.` : null;
}

interface BudgetFieldsProps {
  draft: BudgetDraft;
  isNew: boolean;
  nameProblem: string | null;
  onChange: (changes: Partial<BudgetDraft>) => void;
}

function BudgetFields({ draft, isNew, nameProblem, onChange }: BudgetFieldsProps): ReactElement {
  return (
    <>
      {isNew ? (
        <TextInput
          label="Name"
          required
          data-autofocus
          error={nameProblem}
          value={draft.id}
          onChange={(event) => onChange({ id: event.currentTarget.value })}
        />
      ) : null}
      <div className={classes['pair']}>
        <NativeSelect
          label="Counts what is spent by"
          data={[...BUDGET_SCOPES]}
          value={draft.scope}
          onChange={(event) => onChange({ scope: pick(BUDGET_SCOPES, event.currentTarget.value) ?? 'tenant', of: '' })}
        />
        {draft.scope === 'tenant' ? null : (
          <TextInput
            label={`Which ${draft.scope}`}
            placeholder={`each ${draft.scope} by itself`}
            value={draft.of}
            onChange={(event) => onChange({ of: event.currentTarget.value })}
          />
        )}
        <NativeSelect
          label="Window"
          data={[...BUDGET_WINDOWS]}
          value={draft.per}
          onChange={(event) => onChange({ per: pick(BUDGET_WINDOWS, event.currentTarget.value) ?? 'day' })}
        />
        <TextInput label="Zone of its days" value={draft.tz} onChange={(event) => onChange({ tz: event.currentTarget.value })} />
        <BudgetLines draft={draft} onChange={onChange} />
      </div>
    </>
  );
}

const AT_HARD = [
  { value: 'deny', label: 'Deny: fail the task' },
  { value: 'pause', label: 'Pause: hold it until the next window' },
  { value: 'downgrade', label: 'Downgrade: take another model' },
];

function BudgetLines({ draft, onChange }: Pick<BudgetFieldsProps, 'draft' | 'onChange'>): ReactElement {
  return (
    <>
      <NumberInput
        label="Soft line, $"
        description="Notifies once a window."
        min={0}
        value={draft.soft}
        onChange={(soft) => onChange({ soft })}
      />
      <NumberInput
        label="Hard line, $"
        description="No more than this is spent."
        min={0}
        value={draft.hard}
        onChange={(hard) => onChange({ hard })}
      />
      <NativeSelect
        label="At the hard line"
        data={AT_HARD}
        value={draft.atHard}
        onChange={(event) => onChange({ atHard: pick(BUDGET_ACTIONS, event.currentTarget.value) ?? 'deny' })}
      />
      {draft.atHard === 'downgrade' ? (
        <TextInput
          label="Model"
          required
          value={draft.downgradeTo}
          onChange={(event) => onChange({ downgradeTo: event.currentTarget.value })}
        />
      ) : null}
    </>
  );
}

function pick<Value extends string>(values: readonly Value[], value: string): Value | undefined {
  return values.find((each) => each === value);
}

function Previewed({ preview }: { preview: BudgetPreview }): ReactElement {
  return (
    <output className={classes['preview']}>
      {previewText(preview)}
      {preview.agentWarnings.map((warning) => (
        <p key={warning}>{warning}.</p>
      ))}
    </output>
  );
}

function previewText({ tasks, spentMicroUsd, refused, savedMicroUsd, warnings }: BudgetPreview): string {
  if (tasks === 0) return 'No task of the last seven days has a known cost, so there is nothing to compare with.';
  const spent = `In the last seven days ${tasks} ${tasks === 1 ? 'task' : 'tasks'} cost ${moneyText(spentMicroUsd)}.`;
  const stopped =
    refused === 0 ? 'None would have been stopped' : `${refused} would not have started, which saves ${moneyText(savedMicroUsd)}`;
  return `${spent} ${stopped}; the soft line would have been crossed in ${warnings} ${warnings === 1 ? 'window' : 'windows'}.`;
}
