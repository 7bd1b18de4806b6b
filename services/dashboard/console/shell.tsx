import { ActionIcon, Button, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useEffect, useRef, type ReactElement, type ReactNode } from 'react';
import { SCHEME_COOKIE } from '../scheme-cookie.ts';
import { usePerson } from './api/call-api.ts';
import { Icon, type IconName } from './parts/icon.tsx';
import { navigate, PageLink } from './routing/navigation.tsx';
import type { Page } from './routing/page-of-path.ts';
import classes from './shell.module.css';

interface ShellProps {
  page: Page['name'];
  title: string;
  children: ReactNode;
}

/** The frame of every page: navigation, colour scheme, and the person who is signed in. */
export function Shell({ page, title, children }: ShellProps): ReactElement {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Muster`;
    // A screen reader announces another page only when it gets the focus. The first page is read from its top.
    const hasFocus = main.current?.contains(document.activeElement) ?? false;
    if (!isFirst.current && !hasFocus) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  return (
    <div className={classes['shell']}>
      <a className={classes['skip']} href="#content">
        To the content
      </a>
      <header className={`bar ${classes['bar']}`}>
        <PageLink className="brand" href="/">
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

const PAGES = [
  { name: 'overview', href: '/', text: 'Overview' },
  { name: 'chat', href: '/chat', text: 'Chat' },
  { name: 'schedules', href: '/schedules', text: 'Schedules' },
] as const;

/** Pages outside the console. */
const OTHER_PAGES = [
  { href: '/board', text: 'Board' },
  { href: '/docs', text: 'API' },
] as const;

/** Links side by side, or in a menu on a narrow page. */
function MainNavigation({ page }: { page: Page['name'] }): ReactElement {
  return (
    <nav aria-label="Main" className={classes['navigation']}>
      <div className={classes['links']}>
        {PAGES.map(({ name, href, text }) => (
          <PageLink key={href} href={href} aria-current={name === page ? 'page' : undefined}>
            {text}
          </PageLink>
        ))}
        {OTHER_PAGES.map(({ href, text }) => (
          <a key={href} href={href}>
            {text}
          </a>
        ))}
      </div>
      <div className={classes['small']}>
        <Menu position="bottom-start" width={200}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Pages">
              <Icon name="list" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {PAGES.map(({ name, href, text }) => (
              <Menu.Item key={href} onClick={() => navigate(href)} aria-current={name === page ? 'page' : undefined}>
                {text}
              </Menu.Item>
            ))}
            <Menu.Divider />
            {OTHER_PAGES.map(({ href, text }) => (
              <Menu.Item key={href} component="a" href={href}>
                {text}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
    </nav>
  );
}

/** The person who is signed in, and the button to sign out. */
function PersonMenu(): ReactElement {
  const { data } = usePerson();
  return (
    <form className={classes['person']} method="post" action="/sign-out">
      {data === undefined ? null : (
        <span className={classes['who']} title={data.name}>
          {data.tenant} · {data.scopes.join(', ')}
        </span>
      )}
      <Button type="submit" variant="default" size="xs">
        Sign out
      </Button>
    </form>
  );
}

const SCHEMES: readonly { scheme: MantineColorScheme; text: string; icon: IconName }[] = [
  { scheme: 'auto', text: 'As the system', icon: 'system' },
  { scheme: 'light', text: 'Light', icon: 'sun' },
  { scheme: 'dark', text: 'Dark', icon: 'moon' },
];

const YEAR_S = 31_536_000;

/** Light or dark, stored in this browser and, for the pages of the server, in a cookie. */
function SchemeSwitch(): ReactElement {
  // Suspending transitions would write a <style> element, which the content policy refuses.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  useEffect(() => {
    document.cookie = `${SCHEME_COOKIE}=${colorScheme}; path=/; max-age=${colorScheme === 'auto' ? 0 : YEAR_S}; samesite=lax`;
  }, [colorScheme]);
  const icon = SCHEMES.find(({ scheme }) => scheme === colorScheme)?.icon ?? 'system';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Colours">
          <Icon name={icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(picked) => setColorScheme(schemeOf(picked))}>
          {SCHEMES.map((each) => (
            <Menu.RadioItem key={each.scheme} value={each.scheme} closeMenuOnClick>
              {each.text}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

function schemeOf(name: string): MantineColorScheme {
  return SCHEMES.find(({ scheme }) => scheme === name)?.scheme ?? 'auto';
}
