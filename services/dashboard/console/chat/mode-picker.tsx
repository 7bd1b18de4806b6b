import { Button, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import type { QueueMode } from '#shared/config/queue-mode.ts';
import { Icon } from '../parts/icon.tsx';
import { MODES, MODE_TEXTS } from './mode-texts.ts';
import classes from './mode-picker.module.css';

export type ModeChoice = QueueMode | 'default';

export interface ModePickerProps {
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
