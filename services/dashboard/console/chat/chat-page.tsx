import { ActionIcon, Drawer } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { usePerson } from '../api/queries.ts';
import { Icon } from '../parts/icon.tsx';
import { goTo } from '../routing/use-path.ts';
import { sessionPath } from '../routing/page-of-path.ts';
import classes from './chat-page.module.css';
import { ConversationView } from './conversation-view.tsx';
import { randomKey } from '../parts/random-key.ts';
import { readRecentChats, rememberChat } from './recent-chats.ts';
import { SessionList } from './session-list.tsx';

/** A conversation, and the others beside it or, on a narrow page, in a drawer. `session` is null for a new one. */
export function ChatPage({ session }: { session: string | null }): ReactElement {
  const [fresh, setFresh] = useState(newSession);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const tenant = usePerson().data?.tenant ?? '';
  const id = session ?? fresh;
  const recent = readRecentChats(tenant);
  const closeDrawer = (): void => setDrawerOpen(false);
  const begin = (): void => {
    setFresh(newSession());
    closeDrawer();
    goTo('/chat');
  };
  const onBegun = (text: string): void => {
    rememberChat(tenant, id, text);
    goTo(sessionPath(id), { replace: true });
  };
  const list = <SessionList current={session} recent={recent} onNew={begin} onPick={closeDrawer} />;
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
        onBegun={onBegun}
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
