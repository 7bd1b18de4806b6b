import { QUEUE_MODES, type QueueMode } from '#shared/config/queue-mode.ts';
import { NativeSelect, Button, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { useAgentNames } from '../api/queries.ts';
import { Icon } from '../parts/icon.tsx';
import classes from './mode-picker.module.css';

/** What becomes of a message that meets work of its session, in a line for people. */
const MODE_TEXTS: Readonly<Record<QueueMode, string>> = {
  queue: 'Joins the running answer if its agent takes more, else waits its turn',
  interrupt: 'Stops the running answer and replaces what waits',
  collect: 'Waits, and becomes one turn together with what else waits',
  steer: 'Goes into the running answer, past what waits, if its agent takes more',
  latest: 'Replaces what waits; the running answer goes on',
  reject: 'Is refused while an answer is running',
};

const MODES: readonly QueueMode[] = QUEUE_MODES;

interface AgentPickerProps {
  /** Null for the one that the configuration names. */
  agent: string | null;
  onPick: (agent: string | null) => void;
}

/** Who answers. */
export function AgentPicker({ agent, onPick }: AgentPickerProps): ReactElement {
  const names = useAgentNames();
  return (
    <NativeSelect
      aria-label="Agent"
      size="xs"
      value={agent ?? ''}
      onChange={(event) => onPick(event.currentTarget.value === '' ? null : event.currentTarget.value)}
      data={[{ value: '', label: 'Usual agent' }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
}

type ModeChoice = QueueMode | 'default';

interface ModePickerProps {
  /** The session's own mode; `default` for that of its surface. */
  mode: ModeChoice;
  /** What holds now, wherever it comes from; null until that is known. */
  effective: QueueMode | null;
  onPick: (mode: ModeChoice) => void;
}

const CHOICES: readonly { mode: ModeChoice; text: string }[] = [
  { mode: 'default', text: 'What the configuration says' },
  ...MODES.map((mode) => ({ mode, text: MODE_TEXTS[mode] })),
];

/** What becomes of a message that is sent while an answer is running. */
export function ModePicker({ mode, effective, onPick }: ModePickerProps): ReactElement {
  return (
    <Menu position="top-start" width="min(22rem, 92vw)" withinPortal>
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<Icon name="down" size={12} />}>
          Mode: {mode === 'default' && effective !== null ? `${effective} (default)` : mode}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>A message sent while an answer is running</Menu.Label>
        <Menu.RadioGroup value={mode} onChange={(picked) => onPick(choiceOf(picked))}>
          {CHOICES.map((choice) => (
            <Menu.RadioItem key={choice.mode} value={choice.mode} closeMenuOnClick className={classes['choice']}>
              <strong>{choice.mode}</strong>
              <span className="faint">{choice.text}</span>
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

function choiceOf(name: string): ModeChoice {
  return CHOICES.find(({ mode }) => mode === name)?.mode ?? 'default';
}
