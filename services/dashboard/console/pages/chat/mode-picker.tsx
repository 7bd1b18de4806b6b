import { Button, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { QUEUE_MODES, type QueueMode } from '#shared/config/sources.ts';
import type { Session } from '#shared/client/openapi.gen.ts';
import { Icon } from '../../parts/icon.tsx';
import classes from './composer.module.css';

/** The effect of each mode on a message that meets a running answer, for people. */
const MODE_TEXTS: Readonly<Record<QueueMode, string>> = {
  queue: 'Joins the running answer if its agent takes more, else waits its turn',
  interrupt: 'Stops the running answer and replaces what waits',
  collect: 'Waits, and becomes one turn together with what else waits',
  steer: 'Goes into the running answer, past what waits, if its agent takes more',
  latest: 'Replaces what waits; the running answer goes on',
  reject: 'Is refused while an answer is running',
};

const MODES: readonly QueueMode[] = QUEUE_MODES;

type ModeChoice = QueueMode | 'default';

interface ModePickerProps {
  /** Undefined until it is loaded. */
  session: Session | undefined;
  onPick: (mode: ModeChoice) => void;
}

const CHOICES: readonly { mode: ModeChoice; text: string }[] = [
  { mode: 'default', text: 'What the configuration says' },
  ...MODES.map((mode) => ({ mode, text: MODE_TEXTS[mode] })),
];

/** Picks the mode for messages that are sent while an answer is running. */
export function ModePicker({ session, onPick }: ModePickerProps): ReactElement {
  // The session's own mode; `default` for the mode of its surface.
  const mode = session?.modeSource === 'session' ? session.mode : 'default';
  const effective = session?.mode ?? null;
  return (
    <Menu position="top-start" width="min(22rem, 92vw)" withinPortal>
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<Icon name="expand" size={14} />}>
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
