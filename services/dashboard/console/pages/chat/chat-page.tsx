import { ActionIcon, Button, Drawer, Title } from '@mantine/core';
import { useState, type ReactElement, type ReactNode } from 'react';
import { randomKey, usePerson } from '../../api/call-api.ts';
import { useMay } from '../../api/person.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { navigate } from '../../routing/navigation.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { sessionPath } from '../../routing/paths.ts';
import classes from './chat-page.module.css';
import { AgentPicker, Composer, ModePicker } from './composer.tsx';
import { isOpen } from './conversation.ts';
import { MessageList } from './message-list.tsx';
import { addRecentChat, readRecentChats, SessionList } from './session-list.tsx';
import { useConversation } from './use-conversation.ts';

/** A conversation beside the list of conversations, which a narrow page keeps in a drawer. Without an id it is a new conversation. */
export function Page({ params }: PageProps): ReactElement {
  const session = params['id'] ?? null;
  const [newId, setNewId] = useState(newSession);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const tenant = usePerson().data?.tenant ?? '';
  const id = session ?? newId;
  const recent = readRecentChats(tenant);
  const closeDrawer = (): void => setDrawerOpen(false);
  const start = (): void => {
    setNewId(newSession());
    closeDrawer();
    navigate('/chat');
  };
  const onStarted = (text: string): void => {
    addRecentChat(tenant, id, text);
    navigate(sessionPath(id), { replace: true });
  };
  const list = <SessionList current={session} recent={recent} onNew={start} onPick={closeDrawer} />;
  return (
    <div className={classes['chat']}>
      <div className={classes['side']}>{list}</div>
      <Drawer
        opened={isDrawerOpen}
        onClose={closeDrawer}
        title="Conversations"
        size="min(20rem, 85vw)"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {list}
      </Drawer>
      <ConversationView
        key={id}
        id={id}
        title={recent.find((chat) => chat.id === id)?.title ?? id}
        isNew={session === null}
        onStarted={onStarted}
        menu={
          <ActionIcon
            className={classes['menu']}
            variant="default"
            size="lg"
            aria-label="Conversations"
            onClick={() => setDrawerOpen(true)}
          >
            <Icon name="chat" />
          </ActionIcon>
        }
      />
    </div>
  );
}

function newSession(): string {
  return `web-${randomKey()}`;
}

interface ConversationViewProps {
  id: string;
  title: string;
  isNew: boolean;
  /** The button that opens the drawer of conversations on a narrow page. */
  menu: ReactNode;
  /** Called after the first message of a new conversation was accepted. */
  onStarted: (text: string) => void;
}

/** One conversation: its messages, and the box to write in. */
function ConversationView({ id, title, isNew, menu, onStarted }: ConversationViewProps): ReactElement {
  const [agent, setAgent] = useState<string | null>(null);
  const { conversation, session, connection, problem, send, stop, setMode } = useConversation(id);
  const maySubmit = useMay('submit');
  const open = conversation.messages.filter(isOpen);
  const onSend = async (text: string): Promise<boolean> => {
    const isAccepted = await send(text, agent);
    if (isAccepted && isNew) onStarted(text);
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
      <MessageList
        conversation={conversation}
        session={session}
        onRetry={maySubmit ? (text, failedAgent) => void send(text, failedAgent) : null}
      />
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
