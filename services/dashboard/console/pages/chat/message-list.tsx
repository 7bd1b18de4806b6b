import { ActionIcon, Button, Skeleton } from '@mantine/core';
import { Fragment, memo, useDeferredValue, useState, type ReactElement } from 'react';
import type { Session } from '#shared/client/openapi.gen.ts';
import { useHasPlainOutput } from '../../api/known-agents.ts';
import { Icon } from '../../parts/icon.tsx';
import { useStickToEnd } from '../../parts/scroll-box.tsx';
import { AgentText } from '../../parts/text/markdown.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { TaskQuestions } from '../tasks/task-questions.tsx';
import type { ChatMessage, Conversation, SystemLine } from './conversation.ts';
import { MessageFiles } from './message-files.tsx';
import classes from './message-list.module.css';
import { outcomeText, waitTexts } from './message-texts.ts';

interface MessageListProps {
  conversation: Conversation;
  session: Session | undefined;
  /** Sends a message that failed again, with its files. Resolves to whether it was accepted. Null for people who may not write. */
  onRetry: ((message: ChatMessage) => Promise<boolean>) | null;
}

/** The messages, oldest first. The list stays scrolled to its end until the person scrolls up. */
export function MessageList({ conversation, session, onRetry }: MessageListProps): ReactElement {
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
              {message.status === 'permanently_failed' && onRetry !== null ? <RetryButton onRetry={() => onRetry(message)} /> : null}
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

/** Gone once the message was accepted again: another press would send it once more. */
function RetryButton({ onRetry }: { onRetry: () => Promise<boolean> }): ReactElement | null {
  const [state, setState] = useState<'failed' | 'sending' | 'sent'>('failed');
  if (state === 'sent') return null;
  const retry = async (): Promise<void> => {
    setState('sending');
    setState((await onRetry()) ? 'sent' : 'failed');
  };
  return (
    <Button
      className={classes['retry'] ?? ''}
      size="compact-xs"
      variant="default"
      loading={state === 'sending'}
      onClick={() => void retry()}
    >
      Try again
    </Button>
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

interface MessageViewProps {
  message: ChatMessage;
  /** Why the message waits; null when it does not. */
  wait: string | null;
}

/** A message with its answer, or with its outcome when it has no answer. */
const MessageView = memo(function MessageView({ message, wait }: MessageViewProps): ReactElement {
  return (
    <article className={classes['message']} aria-label="Message">
      <div className={classes['said']}>{message.text}</div>
      {message.attachments.length === 0 ? null : (
        <div className={classes['sent']}>
          <MessageFiles task={message.id} kind="attachments" files={message.attachments} />
        </div>
      )}
      <Outcome message={message} wait={wait} />
      <Answer message={message} />
    </article>
  );
});

function Outcome({ message, wait }: MessageViewProps): ReactElement | null {
  const outcome = outcomeText(message);
  if (outcome !== null) return <OutcomeLine id={message.id} text={outcome} />;
  const isWaiting = message.status === 'pending' || message.status === 'queued' || message.status === 'scheduled';
  if (isWaiting) return <OutcomeLine id={message.id} text={wait === null ? 'Waiting' : `Waiting: ${wait}`} isWaiting />;
  if (message.status === 'suspended') return <Suspended id={message.id} wait={wait} />;
  // Its program may ask while it goes on.
  if (message.status === 'running') return <OpenQuestions id={message.id} />;
  if (message.status === 'failed' || message.status === 'timeout') return <OutcomeLine id={message.id} text="Failed, and is tried again" />;
  return null;
}

/** A run that waits without a slot, with what it asks. */
function Suspended({ id, wait }: { id: string; wait: string | null }): ReactElement {
  return (
    <>
      <OutcomeLine id={id} text={wait === null ? 'Suspended' : `Waiting: ${wait}`} isWaiting />
      <OpenQuestions id={id} />
    </>
  );
}

function OpenQuestions({ id }: { id: string }): ReactElement {
  return <TaskQuestions taskRef={{ id, tenant: null }} isShown={({ status }) => status === 'open'} />;
}

function OutcomeLine({ id, text, isWaiting = false }: { id: string; text: string; isWaiting?: boolean }): ReactElement {
  return (
    <p className={classes['outcome']}>
      {isWaiting ? <Icon name="clock" size={14} /> : null}
      {text} <PageLink href={`/tasks/${id}`}>Details</PageLink>
    </p>
  );
}

function Answer({ message }: { message: ChatMessage }): ReactElement | null {
  // Each piece lays out the long answer again, so typing takes precedence.
  const text = useDeferredValue(message.answer);
  const isPlain = useHasPlainOutput(message.agent);
  const isWriting = message.status === 'running';
  if (text === '' && !isWriting && message.artifacts.length === 0) return null;
  return (
    <div className={classes['answer']} aria-busy={isWriting} data-writing={isWriting || undefined}>
      {message.agent === null ? null : <div className={classes['agent']}>{message.agent}</div>}
      {text === '' ? null : <AgentText text={text} isPlain={isPlain} />}
      <MessageFiles task={message.id} kind="artifacts" files={message.artifacts} />
      {isWriting ? (
        <span className={classes['cursor']}>
          <span className="unseen">The answer is being written</span>
        </span>
      ) : null}
    </div>
  );
}
