import { Button, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { useSendOnce } from '../../parts/actions/use-send-once.ts';
import { useFocusInvalid } from '../../parts/keys/use-focus-invalid.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { RulePreview } from './rule-preview.tsx';
import { fieldProblems, type CompleteDraft, type Draft, type FieldsProps } from './schedule-draft.ts';
import { ScheduleOptions } from './schedule-options.tsx';
import classes from './schedules.module.css';

export interface ScheduleFormProps {
  /** The initial values. */
  initial: Draft;
  /** The schedule that is edited; null for a new schedule. */
  schedule: Schedule | null;
  /** Creates or changes the schedule; the form shows what it throws. */
  save: (draft: CompleteDraft) => Promise<void>;
  onCancel: () => void;
}

/** The form that creates or changes a schedule. */
export function ScheduleForm({ initial, schedule, save, onCancel }: ScheduleFormProps): ReactElement {
  const agents = useAgentNames();
  const [draft, setDraft] = useState(initial);
  const { form, problem, isSending, send } = useSaving();
  const sendOnce = useSendOnce();
  const agent = draft.agent ?? (agents.includes('assistant') ? 'assistant' : agents[0]);
  const problems = fieldProblems(problem);
  const fields: FieldsProps = {
    draft: { ...draft, agent: agent ?? null },
    problems: problems ?? {},
    onChange: (part) => setDraft((before) => ({ ...before, ...part })),
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (agent === undefined) return;
    const complete = { ...draft, agent };
    void send(() => sendOnce(JSON.stringify(complete), (idempotencyKey) => save({ ...complete, idempotencyKey })));
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
  form: ReturnType<typeof useFocusInvalid>;
  /** The error of the last try. */
  problem: unknown;
  isSending: boolean;
  send: (work: () => Promise<void>) => Promise<void>;
}

function useSaving(): Saving {
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const form = useFocusInvalid(problem);
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

/** Common rules. */
const PRESETS = [
  { text: 'Every 5 minutes', phrase: 'every 5 minutes' },
  { text: 'Every hour', phrase: 'every hour' },
  { text: 'Daily at midnight', phrase: 'every day at 00:00' },
  { text: 'Weekly on Monday', phrase: 'every monday at 09:00' },
] as const;

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
