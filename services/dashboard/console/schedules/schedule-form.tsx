import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useId, useState, type ReactElement, type SubmitEvent } from 'react';
import { createSchedule, type NewSchedule } from '../api/schedule-calls.ts';
import { useAgentNames } from '../api/use-agent-names.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ownZone } from '../parts/zone-time.ts';
import { MISSED_CHOICES, OVERLAP_CHOICES, PRESETS } from './schedule-choices.ts';
import { RulePreview } from './rule-preview.tsx';
import classes from './schedules.module.css';

export interface ScheduleFormProps {
  onMade: () => void;
  onCancel: () => void;
}

/** Makes a schedule. */
export function ScheduleForm({ onMade, onCancel }: ScheduleFormProps): ReactElement {
  const agents = useAgentNames();
  const [draft, setDraft] = useState<Draft>({ agent: null, phrase: '', message: '', tz: ownZone(), overlap: 'skip', missed: 'once' });
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
      await createSchedule({ ...draft, agent });
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

/** Until somebody picks an agent it is the usual one. */
interface Draft extends Omit<NewSchedule, 'agent'> {
  agent: string | null;
}

interface FieldsProps {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
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

function ScheduleOptions({ draft, agents, onChange }: FieldsProps & { agents: readonly string[] }): ReactElement {
  const zones = useId();
  return (
    <div className={classes['options']}>
      <NativeSelect
        label="Agent"
        data={agents}
        value={draft.agent ?? ''}
        onChange={(event) => onChange({ agent: event.currentTarget.value })}
      />
      <TextInput label="Zone" required list={zones} value={draft.tz} onChange={(event) => onChange({ tz: event.currentTarget.value })} />
      <datalist id={zones}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </datalist>
      <NativeSelect
        label="When the last run still runs"
        data={OVERLAP_CHOICES}
        value={draft.overlap}
        onChange={(event) => onChange({ overlap: event.currentTarget.value })}
      />
      <NativeSelect
        label="When a time was missed"
        data={MISSED_CHOICES}
        value={draft.missed}
        onChange={(event) => onChange({ missed: event.currentTarget.value })}
      />
    </div>
  );
}
