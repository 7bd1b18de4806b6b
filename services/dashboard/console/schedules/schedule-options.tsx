import { NativeSelect, TextInput } from '@mantine/core';
import { useId, type ReactElement } from 'react';
import { MISSED_CHOICES, OVERLAP_CHOICES, PLATFORM_CHOICES } from './schedule-choices.ts';
import type { FieldsProps } from './schedule-draft.ts';
import classes from './schedules.module.css';

/** Who does it and by which clock, what becomes of times that cannot be kept, and where results go. */
export function ScheduleOptions({ draft, agents, onChange }: FieldsProps & { agents: readonly string[] }): ReactElement {
  return (
    <div className={classes['options']}>
      <NativeSelect
        label="Agent"
        data={agents}
        value={draft.agent ?? ''}
        onChange={(event) => onChange({ agent: event.currentTarget.value })}
      />
      <ZoneField draft={draft} onChange={onChange} />
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
      <TextInput
        label="Name"
        placeholder="by default the rule in words"
        maxLength={200}
        autoComplete="off"
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <NativeSelect
        label="Send results to"
        data={PLATFORM_CHOICES}
        value={draft.platform}
        onChange={(event) => onChange({ platform: event.currentTarget.value })}
      />
      {draft.platform === '' ? null : (
        <TextInput
          label="Chat"
          description="Its id on the platform"
          required
          maxLength={200}
          autoComplete="off"
          value={draft.channel}
          onChange={(event) => onChange({ channel: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

function ZoneField({ draft, onChange }: FieldsProps): ReactElement {
  const zones = useId();
  return (
    <>
      <TextInput label="Zone" required list={zones} value={draft.tz} onChange={(event) => onChange({ tz: event.currentTarget.value })} />
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
