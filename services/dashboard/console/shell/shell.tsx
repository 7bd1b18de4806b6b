import { useEffect, useRef, type ReactElement, type ReactNode } from 'react';
import type { Page } from '../routing/page-of-path.ts';
import { PageLink } from '../routing/page-link.tsx';
import { MainNavigation } from './main-navigation.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import classes from './shell.module.css';
import { PersonMenu } from './person-menu.tsx';

export interface ShellProps {
  page: Page['name'];
  title: string;
  children: ReactNode;
}

/** What is around every page: where one can go, how it looks, and who is signed in. */
export function Shell({ page, title, children }: ShellProps): ReactElement {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Muster`;
    // A screen reader hears of another page only when the focus goes there; on the first one it starts at the top by itself.
    const isThere = main.current?.contains(document.activeElement) ?? false;
    if (!isFirst.current && !isThere) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  return (
    <div className={classes['shell']}>
      <a className={classes['skip']} href="#content">
        To the content
      </a>
      <header className={classes['bar']}>
        <PageLink className={classes['brand']} href="/">
          <img src="/dashboard/favicon.svg" alt="" width={24} height={24} />
          Muster
        </PageLink>
        <MainNavigation page={page} />
        <div className={classes['right']}>
          <SchemeSwitch />
          <PersonMenu />
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1} className={classes['main']}>
        {children}
      </main>
    </div>
  );
}
