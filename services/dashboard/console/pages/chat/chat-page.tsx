import { ActionIcon, Button, Drawer, Title } from '@mantine/core';
import { useState, type DragEvent, type ReactElement, type ReactNode } from 'react';
import type { Upload } from '#shared/client/openapi.gen.ts';
import { randomKey } from '../../api/api.ts';
import { useMay, usePerson } from '../../api/person.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { navigate } from '../../routing/navigation.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { sessionPath } from '../../routing/paths.ts';
import classes from './chat-page.module.css';
import { AgentPicker, Composer, type ComposerProps } from './composer.tsx';
import { ModePicker } from './mode-picker.tsx';
import { isOpen } from './conversation.ts';
import { MessageList } from './message-list.tsx';
import { addRecentChat, readRecentChats, SessionList } from './session-list.tsx';
import { WorkspaceMenu } from './workspace-menu.tsx';
import { useAttachments } from './use-attachments.ts';
import { useConversation, type SentFile } from './use-conversation.ts';

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

function sentFile({ id: uploadId, name, mediaType, bytes }: Upload): SentFile {
  return { file: { name, mediaType, uploadId }, bytes };
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
  const { conversation, session, connection, problem, send, sendAgain, stop, setMode } = useConversation(id);
  const maySubmit = useMay('submit');
  const attachments = useAttachments();
  const { isOver, ...dropping } = useDropping(maySubmit ? attachments.add : null);
  const open = conversation.messages.filter(isOpen);
  const onSend: ComposerProps['onSend'] = async (text, files) => {
    const isAccepted = await send({ text, agent, files: files.map(sentFile) });
    if (isAccepted && isNew) onStarted(text);
    return isAccepted;
  };
  return (
    <section className={classes['conversation']} aria-label="Conversation" data-dropping={isOver || undefined} {...dropping}>
      <Head title={isNew ? 'New chat' : title} menu={menu} onStop={maySubmit ? () => void stop() : null} isBusy={open.length > 0}>
        <WorkspaceMenu workspaces={session?.workspaces} />
      </Head>
      {connection === 'cut' ? <output className={classes['cut']}>The connection is cut. Trying again …</output> : null}
      <MessageList conversation={conversation} session={session} onRetry={maySubmit ? sendAgain : null} />
      {problem === null ? null : (
        <div className={classes['problem']}>
          <ProblemNote title="That did not work" error={problem} />
        </div>
      )}
      {maySubmit ? (
        <Composer onSend={onSend} attachments={attachments}>
          <AgentPicker agent={agent} onPick={setAgent} />
          <ModePicker session={session} onPick={(mode) => void setMode(mode)} />
        </Composer>
      ) : (
        <p className={`faint ${classes['reader']}`}>This key may read the conversation. Writing needs the scope submit.</p>
      )}
    </section>
  );
}

interface HeadProps {
  title: string;
  menu: ReactNode;
  /** Null for people who may not stop it. */
  onStop: (() => void) | null;
  /** Whether there is anything to stop. */
  isBusy: boolean;
  children: ReactNode;
}

function Head({ title, menu, onStop, isBusy, children }: HeadProps): ReactElement {
  return (
    <header className={classes['head']}>
      {menu}
      <Title order={1} size="h5" className={classes['title']}>
        {title}
      </Title>
      {children}
      {onStop === null ? null : (
        <Button variant="default" size="xs" leftSection={<Icon name="stop" size={14} />} disabled={!isBusy} onClick={onStop}>
          Stop
        </Button>
      )}
    </header>
  );
}

interface Dropping {
  /** Whether files are held over the place. */
  isOver: boolean;
  onDragOver: (event: DragEvent) => void;
  onDragLeave: (event: DragEvent) => void;
  onDrop: (event: DragEvent) => void;
}

/** Takes files that are dropped on a place; without `add` the browser does what it does. */
function useDropping(add: ((files: Iterable<File>) => void) | null): Dropping {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent): boolean => add !== null && event.dataTransfer.types.includes('Files');
  return {
    isOver,
    onDragOver: (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: ({ currentTarget, relatedTarget }) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
    },
    onDrop: (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      add?.(event.dataTransfer.files);
    },
  };
}
