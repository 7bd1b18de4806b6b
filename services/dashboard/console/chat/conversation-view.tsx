import { Button, Title } from '@mantine/core';
import { useState, type ReactElement, type ReactNode } from 'react';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { AgentPicker, ModePicker } from './pickers.tsx';
import { Composer } from './composer.tsx';
import classes from './conversation-view.module.css';
import { isOpen } from './conversation.ts';
import { MessageList } from './messages/message-list.tsx';
import { useConversation } from './use-conversation.ts';

export interface ConversationViewProps {
  id: string;
  title: string;
  isNew: boolean;
  /** The button that shows the other conversations, where there is no room for them. */
  menu: ReactNode;
  /** After the first message of a new one was accepted. */
  onBegun: (text: string) => void;
}

/** One conversation: what was said, what waits, and the box to write in. */
export function ConversationView({ id, title, isNew, menu, onBegun }: ConversationViewProps): ReactElement {
  const [agent, setAgent] = useState<string | null>(null);
  const { conversation, session, connection, problem, send, stop, setMode } = useConversation(id);
  const open = conversation.messages.filter(isOpen);
  const onSend = async (text: string): Promise<boolean> => {
    const isAccepted = await send(text, agent);
    if (isAccepted && isNew) onBegun(text);
    return isAccepted;
  };
  return (
    <section className={classes['conversation']} aria-label="Conversation">
      <header className={classes['head']}>
        {menu}
        <Title order={1} size="h5" className={classes['title']}>
          {isNew ? 'New chat' : title}
        </Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="stop" size={14} />}
          disabled={open.length === 0}
          onClick={() => void stop()}
        >
          Stop
        </Button>
      </header>
      {connection === 'cut' ? <output className={classes['cut']}>The connection is cut. Trying again …</output> : null}
      <MessageList conversation={conversation} session={session} />
      {problem === null ? null : (
        <div className={classes['problem']}>
          <ProblemNote title="That did not work" error={problem} />
        </div>
      )}
      <Composer onSend={onSend}>
        <AgentPicker agent={agent} onPick={setAgent} />
        <ModePicker
          mode={session?.modeSource === 'session' ? session.mode : 'default'}
          effective={session?.mode ?? null}
          onPick={(mode) => void setMode(mode)}
        />
      </Composer>
    </section>
  );
}
