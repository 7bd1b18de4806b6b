import { lazy, Suspense, useEffect, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react';
import { PaletteButton } from '../palette/palette-button.tsx';
import { ConfirmDialog } from '../parts/actions/confirm.tsx';
import { Jobs } from '../parts/actions/jobs.tsx';
import { Notices } from '../parts/actions/notices.tsx';
import { isInDialog } from '../parts/keys/is-in-dialog.ts';
import { KeyList } from '../parts/keys/key-list.tsx';
import { NewTaskDialog } from '../parts/new-task/new-task.tsx';
import { useKeptScroll } from '../routing/kept-scroll.ts';
import { PageLink } from '../routing/navigation.tsx';
import { useIsTourOn } from '../tour/tour-state.ts';
import { LiveMark } from './live-mark.tsx';
import { MainNavigation, NavigationMenu } from './navigation.tsx';
import { PersonMenu } from './person-menu.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import classes from './shell.module.css';

interface ShellProps {
  /** The path of the shown page's entry in the navigation; null for an unknown page. */
  path: string | null;
  title: string;
  children: ReactNode;
}

/** Loaded only while the tour is on. */
const TourBar = lazy(async () => ({ default: (await import('../tour/tour-bar.tsx')).TourBar }));

/** The frame of every page: navigation, colour scheme, and the person who is signed in. */
export function Shell({ path, title, children }: ShellProps): ReactElement {
  const main = useRef<HTMLElement>(null);
  const focused = useRef(path);
  // Before the effects of the page, which may put a title of its own.
  useLayoutEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  useEffect(() => {
    if (focused.current === path) return undefined;
    focused.current = path;
    // With the next frame, which lays the page out anyway: to focus an element forces that.
    const frame = requestAnimationFrame(() => focusPage(main.current));
    return () => cancelAnimationFrame(frame);
  }, [path]);
  useKeptScroll(main);
  return (
    <div className={classes['shell']}>
      <a className={classes['skip']} href="#content">
        To the content
      </a>
      <header className={`bar ${classes['bar']}`}>
        <NavigationMenu path={path} />
        <PageLink className="brand" href="/">
          <img src="/dashboard/favicon.svg" alt="" width={24} height={24} />
          <span className={classes['name']}>Muster</span>
        </PageLink>
        <div className={classes['right']}>
          <LiveMark />
          <PaletteButton />
          <SchemeSwitch />
          <PersonMenu />
        </div>
      </header>
      {useIsTourOn() ? (
        <Suspense fallback={null}>
          <TourBar />
        </Suspense>
      ) : null}
      <div className={classes['body']}>
        <MainNavigation path={path} />
        <main id="content" ref={main} tabIndex={-1} className={classes['main']}>
          <Suspense fallback={<div className="page" aria-busy="true" />}>{children}</Suspense>
        </main>
      </div>
      <Notices>
        <Jobs />
      </Notices>
      <ConfirmDialog />
      <KeyList />
      <NewTaskDialog />
    </div>
  );
}

/**
 * A screen reader announces another page only when it gets the focus. A field or a dialog that a person has opened meanwhile keeps it: the
 * page follows the address a moment later.
 */
function focusPage(main: HTMLElement | null): void {
  if (main?.contains(document.activeElement) !== true && !isInDialog()) main?.focus({ preventScroll: true });
}
