import { Button, Textarea, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactElement, type SubmitEvent } from 'react';
import type { Schedule } from '../api/schedule-records.ts';
import { useAgentNames } from '../api/queries.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { fieldProblems } from './field-problems.ts';
import { RulePreview } from './rule-preview.tsx';
import { PRESETS } from './schedule-choices.ts';
import type { Draft, FieldsProps, ReadyDraft } from './schedule-draft.ts';
import { ScheduleOptions } from './schedule-options.tsx';
import classes from './schedules.module.css';

export interface ScheduleFormProps {
  /** What stands in it at first. */
  initial: Draft;
  /** The one that is edited; null for a new one. */
  schedule: Schedule | null;
  /** Makes or changes it; what it throws is shown where it belongs. */
  save: (draft: ReadyDraft) => Promise<void>;
  onCancel: () => void;
}

/** What a schedule is asked for with, to make one or to change it. */
export function ScheduleForm({ initial, schedule, save, onCancel }: ScheduleFormProps): ReactElement {
  const agents = useAgentNames();
  const [draft, setDraft] = useState(initial);
  const { form, problem, isSending, send } = useSaving();
  const agent = draft.agent ?? (agents.includes('assistant') ? 'assistant' : agents[0]);
  const problems = fieldProblems(problem);
  const fields: FieldsProps = {
    draft: { ...draft, agent: agent ?? null },
    problems: problems ?? {},
    onChange: (part) => setDraft((before) => ({ ...before, ...part })),
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (agent !== undefined) void send(() => save({ ...draft, agent }));
  };
  return (
    <form ref={form} className={classes['form']} onSubmit={submit}>
      <RuleField {...fields} schedule={schedule} />
      <MessageField {...fields} />
      <ScheduleOptions {...fields} agents={agents} />
      {problem === null || problems !== null ? null : <ProblemNote title="The schedule was not saved" error={problem} />}
      <div className={classes['buttons']}>
        <Button type="submit" loading={isSending} disabled={agent === undefined}>
          {schedule === null ? 'Create' : 'Save'}
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface Saving {
  form: React.RefObject<HTMLFormElement | null>;
  /** What the last try threw. */
  problem: unknown;
  isSending: boolean;
  send: (work: () => Promise<void>) => Promise<void>;
}

function useSaving(): Saving {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  // To where it went wrong, which may be out of sight.
  useEffect(() => {
    if (problem !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem]);
  const send = async (work: () => Promise<void>): Promise<void> => {
    setProblem(null);
    setSending(true);
    try {
      await work();
    } catch (error) {
      setProblem(error);
    } finally {
      setSending(false);
    }
  };
  return { form, problem, isSending, send };
}

function RuleField({ draft, problems, onChange, schedule }: FieldsProps & Pick<ScheduleFormProps, 'schedule'>): ReactElement {
  const isOver = schedule?.status === 'completed' || schedule?.status === 'failed';
  return (
    <div>
      <TextInput
        label="When"
        description={`Words, an interval, a cron expression or a time, like “every weekday at 9” or “0 9 * * 1-5”${isOver ? '. It has ended; a new rule starts it again' : ''}`}
        required
        data-autofocus
        autoComplete="off"
        error={problems.phrase}
        value={draft.phrase}
        onChange={(event) => onChange({ phrase: event.currentTarget.value })}
      />
      <fieldset className={classes['presets']} aria-label="Presets">
        {PRESETS.map(({ text, phrase }) => (
          <Button key={text} size="compact-sm" variant="light" onClick={() => onChange({ phrase })}>
            {text}
          </Button>
        ))}
      </fieldset>
      <RulePreview phrase={draft.phrase} tz={draft.tz} known={schedule} />
    </div>
  );
}

function MessageField({ draft, problems, onChange }: FieldsProps): ReactElement {
  return (
    <Textarea
      label="Message"
      description="What the agent is asked each time"
      required
      autosize
      minRows={2}
      maxRows={12}
      error={problems.message}
      value={draft.message}
      onChange={(event) => onChange({ message: event.currentTarget.value })}
    />
  );
}
