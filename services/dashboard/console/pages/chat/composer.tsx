import { ActionIcon, NativeSelect, Textarea } from '@mantine/core';
import {
  useEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type SubmitEvent,
} from 'react';
import type { Upload } from '#shared/client/openapi.gen.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { Icon } from '../../parts/icon.tsx';
import { isInDialog } from '../../parts/keys/is-in-dialog.ts';
import { AttachmentList } from './attachment-list.tsx';
import classes from './composer.module.css';
import type { Attachments } from './use-attachments.ts';

export interface ComposerProps {
  /** Sends the message; resolves to false when sending failed and the text and files must stay. */
  onSend: (text: string, files: readonly Upload[]) => Promise<boolean>;
  attachments: Attachments;
  /** The options below the box. */
  children: ReactNode;
}

/** The box for a message. Enter sends and Shift+Enter breaks the line; a composing input method keeps its Enter. */
export function Composer({ onSend, attachments, children }: ComposerProps): ReactElement {
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a touch screen the keyboard would cover the conversation.
    if (window.matchMedia('(pointer: fine)').matches && !isInDialog()) box.current?.focus();
  }, []);
  const isReady = attachments.items.every(({ state }) => state === 'ready');
  const isEmpty = text.trim() === '' && attachments.items.length === 0;
  const send = async (): Promise<void> => {
    if (isEmpty || !isReady) return;
    // The box empties at once, so that the person can type the next message meanwhile.
    const taken = attachments.take();
    const files = taken.flatMap(({ upload }) => upload ?? []);
    // A message has a text, so files alone are named in it.
    const sent = text.trim() || files.map(({ name }) => name).join(', ');
    setText('');
    box.current?.focus();
    if (await onSend(sent, files)) return;
    setText((typed) => (typed === '' ? sent : `${sent}\n${typed}`));
    attachments.restore(taken);
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
      <AttachmentList items={attachments.items} onRemove={attachments.remove} />
      <div className={classes['row']}>
        <AttachButton onPick={attachments.add} />
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
          onPaste={(event) => addPasted(event, attachments)}
        />
        <ActionIcon type="submit" size="xl" radius="xl" aria-label="Send" disabled={isEmpty || !isReady}>
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

/** Attaches what the clipboard has as files. Programs that copy text often add a picture of it, which is left out. */
function addPasted(event: ClipboardEvent, attachments: Attachments): void {
  const { files, types } = event.clipboardData;
  if (files.length === 0 || types.includes('text/plain')) return;
  event.preventDefault();
  attachments.add(files);
}

/** Picks files with the browser's own dialog. */
function AttachButton({ onPick }: { onPick: (files: Iterable<File>) => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="xl"
        radius="xl"
        aria-label="Attach files"
        title="Attach files; pasting and dropping them works too"
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </ActionIcon>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          onPick([...(currentTarget.files ?? [])]);
          // The same file can then be picked again.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

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
