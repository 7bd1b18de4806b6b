import { Button, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import { createSchedule } from '../api/schedule-calls.ts';
import { useAgentNames } from '../api/use-agent-names.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ownZone } from '../parts/zone-time.ts';
import { RulePreview } from './rule-preview.tsx';
import { PRESETS } from './schedule-choices.ts';
import { scheduleOf, type Draft, type FieldsProps } from './schedule-draft.ts';
import { ScheduleOptions } from './schedule-options.tsx';
import classes from './schedules.module.css';

export interface ScheduleFormProps {
  onMade: () => void;
  onCancel: () => void;
}

const EMPTY = { agent: null, phrase: '', message: '', overlap: 'skip', missed: 'once', name: '', platform: '', channel: '' };

/** Makes a schedule. */
export function ScheduleForm({ onMade, onCancel }: ScheduleFormProps): ReactElement {
  const agents = useAgentNames();
  const [draft, setDraft] = useState<Draft>({ ...EMPTY, tz: ownZone() });
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const agent = draft.agent ?? (agents.includes('assistant') ? 'assistant' : agents[0]);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (agent === undefined) return;
    setProblem(null);
    setSending(true);
    try {
      await createSchedule(scheduleOf(draft, agent));
      onMade();
    } catch (error) {
      setProblem(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <form className={classes['form']} onSubmit={(event) => void submit(event)}>
      <RuleField draft={draft} onChange={change} />
      <Textarea
        label="Message"
        description="What the agent is asked each time"
        required
        autosize
        minRows={2}
        maxRows={12}
        value={draft.message}
        onChange={(event) => change({ message: event.currentTarget.value })}
      />
      <ScheduleOptions draft={{ ...draft, agent: agent ?? null }} agents={agents} onChange={change} />
      {problem === null ? null : <ProblemNote title="The schedule was not made" error={problem} />}
      <div className={classes['buttons']}>
        <Button type="submit" loading={isSending} disabled={agent === undefined}>
          Create
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function RuleField({ draft, onChange }: FieldsProps): ReactElement {
  return (
    <div>
      <TextInput
        label="When"
        description="Words, an interval, a cron expression or a time, like “every weekday at 9” or “0 9 * * 1-5”"
        required
        data-autofocus
        autoComplete="off"
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
      <RulePreview phrase={draft.phrase} tz={draft.tz} />
    </div>
  );
}
