import { PageLink } from '../../routing/page-link.tsx';
import { memo, useDeferredValue, type ReactElement } from 'react';
import { Icon } from '../../parts/icon.tsx';
import type { ChatMessage } from '../conversation.ts';
import { MarkdownText } from './markdown-text.tsx';
import classes from './message-view.module.css';
import { outcomeText } from './message-texts.ts';

export interface MessageViewProps {
  message: ChatMessage;
  /** Why it waits, when it does. */
  wait: string | null;
}

/** A message and, below it, its answer, or what became of it instead. */
export const MessageView = memo(function MessageView({ message, wait }: MessageViewProps): ReactElement {
  return (
    <article className={classes['message']} aria-label="Message">
      <div className={classes['said']}>{message.text}</div>
      <Fate message={message} wait={wait} />
      <Answer message={message} />
    </article>
  );
});

function Fate({ message, wait }: MessageViewProps): ReactElement | null {
  const outcome = outcomeText(message);
  if (outcome !== null) return <FateLine id={message.id} text={outcome} />;
  const isWaiting = message.status === 'pending' || message.status === 'queued' || message.status === 'scheduled';
  if (isWaiting) return <FateLine id={message.id} text={wait === null ? 'Waiting' : `Waiting: ${wait}`} isWaiting />;
  if (message.status === 'failed' || message.status === 'timeout') return <FateLine id={message.id} text="Failed, and is tried again" />;
  return null;
}

function FateLine({ id, text, isWaiting = false }: { id: string; text: string; isWaiting?: boolean }): ReactElement {
  return (
    <p className={classes['fate']}>
      {isWaiting ? <Icon name="clock" size={14} /> : null}
      {text} <PageLink href={`/tasks/${id}`}>Details</PageLink>
    </p>
  );
}

function Answer({ message }: { message: ChatMessage }): ReactElement | null {
  // Long answers are laid out again with each piece; what a person types goes first.
  const text = useDeferredValue(message.answer);
  const isWriting = message.status === 'running';
  if (text === '' && !isWriting) return null;
  return (
    <div className={classes['answer']} aria-busy={isWriting} data-writing={isWriting || undefined}>
      {message.agent === null ? null : <div className={classes['agent']}>{message.agent}</div>}
      {text === '' ? null : <MarkdownText text={text} />}
      {isWriting ? (
        <span className={classes['cursor']}>
          <span className="unseen">The answer is being written</span>
        </span>
      ) : null}
    </div>
  );
}
