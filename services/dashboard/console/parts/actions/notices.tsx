import { Button, CloseButton } from '@mantine/core';
import { useSyncExternalStore, type ReactElement, type ReactNode } from 'react';
import { problemText } from '../../api/api-problem.ts';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './actions.module.css';
import { createStore } from './store.ts';

export interface Notice {
  text: string;
  tone?: 'good' | 'bad';
  /** Takes the action back. */
  undo?: () => Promise<unknown>;
  /** The page that shows more. */
  link?: { readonly text: string; readonly href: string };
}

interface ShownNotice extends Notice {
  id: number;
}

/** Long enough to read a sentence and to press Undo; problems stay until they are closed. */
const SHOWN_MS = 8000;
/** A notice with a link ends a job during which people do something else. */
const LINK_SHOWN_MS = 60_000;
const MAX_SHOWN = 4;

const notices = createStore<readonly ShownNotice[]>([]);
let nextId = 1;

/** Shows a sentence in the corner, with a button to undo where that is possible. */
export function notify(notice: Notice): void {
  const id = nextId;
  nextId += 1;
  notices.change((before) => [...before.slice(1 - MAX_SHOWN), { ...notice, id }]);
  if (notice.tone !== 'bad') setTimeout(() => closeNotice(id), notice.link === undefined ? SHOWN_MS : LINK_SHOWN_MS);
}

function closeNotice(id: number): void {
  notices.change((before) => before.filter((each) => each.id !== id));
}

/** The sentences in the corner, below the progress of jobs; the shell shows them. */
export function Notices({ children }: { children: ReactNode }): ReactElement {
  const shown = useSyncExternalStore(notices.subscribe, notices.read);
  return (
    <section className={classes['notices']} aria-live="polite" aria-label="Notices">
      {children}
      {shown.map((notice) => (
        <div key={notice.id} className={classes['notice']} data-tone={notice.tone}>
          <span>{notice.text}</span>
          {notice.link === undefined ? null : (
            <PageLink href={notice.link.href} onClick={() => closeNotice(notice.id)}>
              {notice.link.text}
            </PageLink>
          )}
          {notice.undo === undefined ? null : (
            <Button size="compact-xs" variant="default" onClick={() => void undo(notice)}>
              Undo
            </Button>
          )}
          <CloseButton size="sm" aria-label="Close the notice" onClick={() => closeNotice(notice.id)} />
        </div>
      ))}
    </section>
  );
}

async function undo({ id, undo: takeBack }: ShownNotice): Promise<void> {
  closeNotice(id);
  try {
    await takeBack?.();
    notify({ text: 'Undone' });
  } catch (error) {
    notify({ text: `It could not be undone: ${problemText(error)}`, tone: 'bad' });
  }
}
