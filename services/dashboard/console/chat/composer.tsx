import { ActionIcon, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement, type ReactNode, type SubmitEvent } from 'react';
import { Icon } from '../parts/icon.tsx';
import classes from './composer.module.css';

export interface ComposerProps {
  /** Sends it; false when that failed, and the text is to stay. */
  onSend: (text: string) => Promise<boolean>;
  /** What stands below the box. */
  children: ReactNode;
}

/** The box one writes in. Enter sends, Shift+Enter breaks the line; an input method that is composing keeps its Enter. */
export function Composer({ onSend, children }: ComposerProps): ReactElement {
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Where a keyboard is part of the screen, it would cover the conversation before it is read.
    if (window.matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);
  const send = async (): Promise<void> => {
    const sent = text.trim();
    if (sent === '') return;
    // Emptied at once, so that the next message can be typed while this one is on its way.
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
