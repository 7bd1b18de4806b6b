import { NativeSelect, TextInput } from '@mantine/core';
import { useId, type ReactElement } from 'react';
import { missedChoices, OVERLAP_CHOICES, PLATFORM_CHOICES, PRIORITY_CHOICES } from './schedule-choices.ts';
import type { FieldsProps } from './schedule-draft.ts';
import classes from './schedules.module.css';

/** Who does it and by which clock, what becomes of times that cannot be kept, and where results go. */
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
        data={OVERLAP_CHOICES}
        error={problems.overlap}
        value={draft.overlap}
        onChange={(event) => onChange({ overlap: event.currentTarget.value })}
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
      <TextInput
        label="Name"
        placeholder="by default the rule in words"
        maxLength={200}
        autoComplete="off"
        error={problems.name}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <PlaceFields {...fields} />
    </div>
  );
}

/** An agent that is gone is still the schedule's until another is picked. */
function withOwn(agents: readonly string[], own: string | null): readonly string[] {
  return own === null || agents.includes(own) ? agents : [own, ...agents];
}

function PlaceFields({ draft, problems, onChange }: FieldsProps): ReactElement {
  return (
    <>
      <NativeSelect
        label="Send results to"
        data={PLATFORM_CHOICES}
        error={problems.platform}
        value={draft.platform}
        onChange={(event) => onChange({ platform: event.currentTarget.value })}
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
