import { ActionIcon, Menu } from '@mantine/core';
import { Fragment, type ReactElement } from 'react';
import { CONSOLE_GROUPS, CONSOLE_PAGES, type ListedPage } from '../../console-pages.ts';
import { useOpenQuestions } from '../api/open-questions.ts';
import { useMayRead } from '../api/person.ts';
import { Icon } from '../parts/icon.tsx';
import { navigate, PageLink } from '../routing/navigation.tsx';
import classes from './shell.module.css';

/** Pages outside the console. */
const OTHER_PAGES = [
  { href: '/board', text: 'Board' },
  { href: '/docs', text: 'API' },
  { href: '/guide/', text: 'Guide' },
] as const;

interface Group {
  name: string;
  text: string;
  pages: ListedPage[];
}

/** The pages that the person's key may read, in groups. */
function useGroups(): Group[] {
  const mayRead = useMayRead();
  const listed = CONSOLE_PAGES.filter((page) => page.inNavigation !== false && mayRead(page));
  const pagesOf = (wanted: string): ListedPage[] => listed.filter(({ group }) => group === wanted);
  return CONSOLE_GROUPS.map(({ name, text }) => ({ name, text, pages: pagesOf(name) })).filter(({ pages }) => pages.length > 0);
}

interface NavigationProps {
  /** The path of the shown page's entry; null for an unknown page. */
  path: string | null;
}

/** Whether a link leads to the shown page, or to the list of its record. */
function currentOf(linked: string, shown: string | null): 'page' | 'true' | undefined {
  if (linked === shown) return 'page';
  return CONSOLE_PAGES.find(({ path }) => path === shown)?.list === linked ? 'true' : undefined;
}

/** The number of open questions beside the name of their page; nothing for none. */
function OpenQuestions(): ReactElement | null {
  const { data } = useOpenQuestions();
  if (data === undefined || data.open === 0) return null;
  return (
    <span className={classes['count']}>
      <span aria-hidden="true">{data.open > MAX_COUNT ? `${MAX_COUNT}+` : data.open}</span>
      <span className="unseen"> ({data.open} open)</span>
    </span>
  );
}

const MAX_COUNT = 99;

/** The list of pages beside the content; a narrow page has `NavigationMenu` instead. */
export function MainNavigation({ path }: NavigationProps): ReactElement {
  const groups = useGroups();
  return (
    <nav aria-label="Main" className={classes['navigation']}>
      {groups.map(({ name, text, pages }) => (
        <Fragment key={name}>
          <p className={classes['group']} id={`group-${name}`}>
            {text}
          </p>
          <ul aria-labelledby={`group-${name}`}>
            {pages.map((page) => (
              <li key={page.name}>
                <PageLink href={page.path} aria-current={currentOf(page.path, path)}>
                  {page.text}
                  {page.name === 'questions' ? <OpenQuestions /> : null}
                </PageLink>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
      <p className={classes['group']} id="group-more">
        More
      </p>
      <ul aria-labelledby="group-more">
        {OTHER_PAGES.map(({ href, text }) => (
          <li key={href}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The same pages in a menu, on a narrow page. */
export function NavigationMenu({ path }: NavigationProps): ReactElement {
  const groups = useGroups();
  return (
    <nav aria-label="Menu" className={classes['small']}>
      <Menu position="bottom-start" width={220}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Pages">
            <Icon name="list" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown className={classes['menu']}>
          {groups.map(({ name, text, pages }) => (
            <Fragment key={name}>
              <Menu.Label>{text}</Menu.Label>
              {pages.map((page) => (
                <Menu.Item key={page.name} onClick={() => navigate(page.path)} aria-current={currentOf(page.path, path)}>
                  {page.text}
                  {page.name === 'questions' ? <OpenQuestions /> : null}
                </Menu.Item>
              ))}
            </Fragment>
          ))}
          <Menu.Divider />
          {OTHER_PAGES.map(({ href, text }) => (
            <Menu.Item key={href} component="a" href={href}>
              {text}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </nav>
  );
}
