import { ActionIcon, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { Icon } from '../parts/icon.tsx';
import { goTo } from '../routing/use-path.ts';
import type { Page } from '../routing/page-of-path.ts';
import { PageLink } from '../routing/page-link.tsx';
import classes from './shell.module.css';

const PAGES = [
  { name: 'overview', href: '/', text: 'Overview' },
  { name: 'chat', href: '/chat', text: 'Chat' },
  { name: 'schedules', href: '/schedules', text: 'Schedules' },
] as const;

/** Pages that the server writes. */
const ELSEWHERE = [
  { href: '/board', text: 'Board' },
  { href: '/docs', text: 'API' },
] as const;

/** Links side by side, or in a menu where there is no room for them. */
export function MainNavigation({ page }: { page: Page['name'] }): ReactElement {
  return (
    <nav aria-label="Main" className={classes['navigation']}>
      <div className={classes['links']}>
        {PAGES.map(({ name, href, text }) => (
          <PageLink key={href} href={href} aria-current={name === page ? 'page' : undefined}>
            {text}
          </PageLink>
        ))}
        {ELSEWHERE.map(({ href, text }) => (
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
              <Menu.Item key={href} onClick={() => goTo(href)} aria-current={name === page ? 'page' : undefined}>
                {text}
              </Menu.Item>
            ))}
            <Menu.Divider />
            {ELSEWHERE.map(({ href, text }) => (
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
