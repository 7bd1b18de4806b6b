import { ActionIcon, Button, Menu, NativeSelect, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement, type ReactNode, type SubmitEvent } from 'react';
import { QUEUE_MODES, type QueueMode } from '#shared/config/sources.ts';
import { useAgentNames } from '../../api/call-api.ts';
import { Icon } from '../../parts/icon.tsx';
import classes from './composer.module.css';

interface ComposerProps {
  /** Sends the text; resolves to false when sending failed and the text must stay. */
  onSend: (text: string) => Promise<boolean>;
  /** The options below the box. */
  children: ReactNode;
}

/** The box for a message. Enter sends and Shift+Enter breaks the line; a composing input method keeps its Enter. */
export function Composer({ onSend, children }: ComposerProps): ReactElement {
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a touch screen the keyboard would cover the conversation.
    if (window.matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);
  const send = async (): Promise<void> => {
    const sent = text.trim();
    if (sent === '') return;
    // The box empties at once, so that the person can type the next message meanwhile.
    setText('');
    box.current?.focus();
    if (!(await onSend(sent))) setText((typed) => (typed === '' ? sent : `${sent}\n${typed}`));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send();
  };
  return (
    <form className={classes['composer']} onSubmit={onSubmit}>
      <div className={classes['row']}>
        <Textarea
          ref={box}
          className={classes['box']}
          aria-label="Message"
          aria-describedby="composer-keys"
          placeholder="Write a message, or /help"
          autosize
          minRows={1}
          maxRows={10}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <ActionIcon type="submit" size="xl" radius="xl" aria-label="Send" disabled={text.trim() === ''}>
          <Icon name="send" />
        </ActionIcon>
      </div>
      <div className={classes['options']}>
        {children}
        <span id="composer-keys" className={`faint ${classes['keys']}`}>
          Enter sends, Shift+Enter breaks the line
        </span>
      </div>
    </form>
  );
}

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

interface AgentPickerProps {
  /** Null for the agent that the configuration names. */
  agent: string | null;
  onPick: (agent: string | null) => void;
}

/** Picks the agent that answers. */
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
  /** The session's own mode; `default` for the mode of its surface. */
  mode: ModeChoice;
  /** The mode in effect; null until it is loaded. */
  effective: QueueMode | null;
  onPick: (mode: ModeChoice) => void;
}

const CHOICES: readonly { mode: ModeChoice; text: string }[] = [
  { mode: 'default', text: 'What the configuration says' },
  ...MODES.map((mode) => ({ mode, text: MODE_TEXTS[mode] })),
];

/** Picks the mode for messages that are sent while an answer is running. */
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
