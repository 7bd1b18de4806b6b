import { NativeSelect, TextInput } from '@mantine/core';
import { useId, type ReactElement } from 'react';
import type { Draft, FieldsProps } from './schedule-draft.ts';
import classes from './schedules.module.css';

interface Choice<Value> {
  value: Value;
  label: string;
}

/** The choice that a person made; browsers know it as text. */
function chosen<Value>(choices: readonly Choice<Value>[], text: string): Value | undefined {
  return choices.find(({ value }) => value === text)?.value;
}

const OVERLAP_CHOICES: readonly Choice<Draft['overlap']>[] = [
  { value: 'skip', label: 'Skip this one' },
  { value: 'queue', label: 'Run it afterwards' },
  { value: 'cancel-other', label: 'Stop the last one' },
  { value: 'allow', label: 'Run both' },
];

/** The priority among the waiting tasks of schedules. */
const PRIORITY_CHOICES = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((priority) => ({
  value: String(priority),
  label: { 10: '10, first', 1: '1, in the background' }[priority] ?? String(priority),
}));

const PLATFORM_CHOICES: readonly Choice<Draft['platform']>[] = [
  { value: '', label: 'Nowhere: they stay here' },
  { value: 'telegram', label: 'Telegram' },
  { value: 'slack', label: 'Slack' },
  { value: 'discord', label: 'Discord' },
  { value: 'whatsapp', label: 'WhatsApp' },
  { value: 'webchat', label: 'Web chat' },
];

const MISSED_CHOICES = [
  { value: 'once', label: 'Run once, late' },
  { value: 'skip', label: 'Leave it out' },
  { value: 'all', label: 'Run each of them, late' },
];

/** As the API writes these times. */
const WITHIN_CHOICES = [
  { value: '', label: 'At once' },
  { value: '4h', label: 'Within 4 hours, for less' },
  { value: '1d', label: 'Within a day, for less' },
];

/** Agent, zone, priority and name, the policies for overlapping and missed runs, and the destination of results. */
export function ScheduleOptions({ agents, ...fields }: FieldsProps & { agents: readonly string[] }): ReactElement {
  const { draft, problems, onChange } = fields;
  return (
    <div className={classes['options']}>
      <NativeSelect
        label="Agent"
        data={withOwn(agents, draft.agent)}
        error={problems.agent}
        value={draft.agent ?? ''}
        onChange={(event) => onChange({ agent: event.currentTarget.value })}
      />
      <ZoneField {...fields} />
      <NativeSelect
        label="When the last run still runs"
        data={[...OVERLAP_CHOICES]}
        error={problems.overlap}
        value={draft.overlap}
        onChange={(event) => onChange({ overlap: chosen(OVERLAP_CHOICES, event.currentTarget.value) ?? draft.overlap })}
      />
      <NativeSelect
        label="When a time was missed"
        data={missedChoices(draft.missed)}
        error={problems.missed}
        value={draft.missed}
        onChange={(event) => onChange({ missed: event.currentTarget.value })}
      />
      <NativeSelect
        label="Priority"
        data={PRIORITY_CHOICES}
        error={problems.priority}
        value={String(draft.priority)}
        onChange={(event) => onChange({ priority: Number(event.currentTarget.value) })}
      />
      <NativeSelect
        label="Calls of its model"
        data={withinChoices(draft.within)}
        error={problems.within}
        value={draft.within}
        onChange={(event) => onChange({ within: event.currentTarget.value })}
      />
      <TextInput
        label="Name"
        placeholder="by default the rule in words"
        maxLength={200}
        autoComplete="off"
        error={problems.name}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <DestinationFields {...fields} />
    </div>
  );
}

/** The choices, with the schedule's own number of runs when it has one. */
function missedChoices(missed: string): typeof MISSED_CHOICES {
  if (MISSED_CHOICES.some(({ value }) => value === missed)) return MISSED_CHOICES;
  return [...MISSED_CHOICES, { value: missed, label: `Run the newest ${missed.replaceAll(/\D/g, '')}, late` }];
}

/** The choices, with the schedule's own time when it has another. */
function withinChoices(within: string): typeof WITHIN_CHOICES {
  if (WITHIN_CHOICES.some(({ value }) => value === within)) return WITHIN_CHOICES;
  return [...WITHIN_CHOICES, { value: within, label: `Within ${within}, for less` }];
}

/** Adds the schedule's own agent, which may no longer exist. */
function withOwn(agents: readonly string[], own: string | null): readonly string[] {
  return own === null || agents.includes(own) ? agents : [own, ...agents];
}

function DestinationFields({ draft, problems, onChange }: FieldsProps): ReactElement {
  return (
    <>
      <NativeSelect
        label="Send results to"
        data={[...PLATFORM_CHOICES]}
        error={problems.platform}
        value={draft.platform}
        onChange={(event) => onChange({ platform: chosen(PLATFORM_CHOICES, event.currentTarget.value) ?? '' })}
      />
      {draft.platform === '' ? null : (
        <TextInput
          label="Chat"
          description={draft.platform === 'webchat' ? 'The session in which its runs are turns' : 'Its id on the platform'}
          required
          maxLength={200}
          autoComplete="off"
          error={problems.channel}
          value={draft.channel}
          onChange={(event) => onChange({ channel: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function ZoneField({ draft, problems, onChange }: FieldsProps): ReactElement {
  const zones = useId();
  return (
    <>
      <TextInput
        label="Zone"
        required
        list={zones}
        error={problems.tz}
        value={draft.tz}
        onChange={(event) => onChange({ tz: event.currentTarget.value })}
      />
      <datalist id={zones}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </datalist>
    </>
  );
}
