import { ActionIcon, Skeleton } from '@mantine/core';
import { Fragment, type ReactElement } from 'react';
import type { Session } from '../../api/records.ts';
import { Icon } from '../../parts/icon.tsx';
import type { Conversation, SystemLine } from '../conversation.ts';
import classes from './message-list.module.css';
import { MessageView } from './message-view.tsx';
import { useStickToEnd } from './use-stick-to-end.ts';
import { waitTexts } from './message-texts.ts';

export interface MessageListProps {
  conversation: Conversation;
  session: Session | undefined;
}

/** What was said, oldest first. It follows what is written, until the person scrolls up to read. */
export function MessageList({ conversation, session }: MessageListProps): ReactElement {
  const { messages, lines, isLoaded } = conversation;
  const { box, content, isAtEnd, goToEnd } = useStickToEnd();
  const waits = waitTexts(session, messages);
  return (
    <div className={classes['frame']}>
      <div ref={box} className={classes['scroll']} tabIndex={0} role="log" aria-live="polite" aria-label="Messages">
        <div ref={content} className={classes['content']}>
          {isLoaded ? null : <Skeleton height={64} radius="lg" />}
          {isLoaded && messages.length === 0 && lines.length === 0 ? <Greeting /> : null}
          <Lines lines={lines} after={null} />
          {messages.map((message) => (
            <Fragment key={message.id}>
              <MessageView message={message} wait={waits.get(message.id) ?? null} />
              <Lines lines={lines} after={message.id} />
            </Fragment>
          ))}
        </div>
      </div>
      {isAtEnd ? null : (
        <ActionIcon className={classes['end']} variant="default" size="lg" radius="xl" aria-label="To the newest message" onClick={goToEnd}>
          <Icon name="down" />
        </ActionIcon>
      )}
    </div>
  );
}

function Lines({ lines, after }: { lines: readonly SystemLine[]; after: string | null }): ReactElement {
  return (
    <>
      {lines
        .filter((line) => line.after === after)
        .map(({ id, text }) => (
          <p key={id} className={classes['line']}>
            {text}
          </p>
        ))}
    </>
  );
}

function Greeting(): ReactElement {
  return (
    <div className={classes['greeting']}>
      <p>Write to an agent. Messages of one chat run one after the other, in order.</p>
      <p className="faint">
        <code>/help</code> lists the commands; <code>/stop</code> stops what runs.
      </p>
    </div>
  );
}
