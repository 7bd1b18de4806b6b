import { ActionIcon, Button, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { Icon } from '../icon.tsx';
import { ownZone } from '../zone-time.ts';
import { DateInput } from './date-input.tsx';
import classes from './filters.module.css';

interface TimeFieldProps {
  label: string;
  /** An ISO time; empty for any. */
  value: string;
  /** `replace`: without an entry in the browser's history, while a person types. */
  onChange: (value: string | null, replace?: boolean) => void;
}

const HOUR_MS = 3_600_000;
const AGES = [
  { text: '15 minutes ago', ms: HOUR_MS / 4 },
  { text: '1 hour ago', ms: HOUR_MS },
  { text: '6 hours ago', ms: 6 * HOUR_MS },
  { text: '1 day ago', ms: 24 * HOUR_MS },
  { text: '7 days ago', ms: 168 * HOUR_MS },
] as const;

/** A time of the viewer's zone; the address has it in UTC. */
export function TimeField({ label, value, onChange }: TimeFieldProps): ReactElement {
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="xs" variant={value === '' ? 'default' : 'light'} rightSection={<Icon name="expand" size={14} />}>
          {label}: {value === '' ? 'any' : shortTime(value)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {AGES.map(({ text, ms }) => (
          <Menu.Item key={text} onClick={() => onChange(new Date(Date.now() - ms).toISOString())}>
            {text}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <div className={classes['time']}>
          <DateInput
            type="datetime-local"
            label={`${label} (${ownZone()})`}
            value={value === '' ? '' : localTime(value)}
            onChange={(local) => onChange(isoTime(local), true)}
          />
          <ActionIcon variant="subtle" color="gray" aria-label={`Any ${label}`} onClick={() => onChange(null)}>
            <Icon name="close" size={14} />
          </ActionIcon>
        </div>
      </Menu.Dropdown>
    </Menu>
  );
}

const SHORT = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const;

function shortTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : new Intl.DateTimeFormat('en-GB', SHORT).format(time);
}

const MINUTE_MS = 60_000;
const TO_MINUTES = 16;

/** As the field wants it: without a zone. */
function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, TO_MINUTES);
}

function isoTime(local: string): string | null {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
