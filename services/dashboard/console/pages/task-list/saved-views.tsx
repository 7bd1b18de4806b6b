import { ActionIcon, Button, Menu, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactElement } from 'react';
import { z } from 'zod';
import { Icon } from '../../parts/icon.tsx';
import { navigate } from '../../routing/navigation.tsx';
import type { Filters } from '../../routing/use-filters.ts';
import type { TASK_FILTERS } from './task-filters.ts';
import classes from './task-list.module.css';

const viewsSchema = z.array(z.object({ name: z.string(), search: z.string() }));
type View = z.infer<typeof viewsSchema>[number];

const KEY = 'muster:views:tasks';
const MAX_NAME = 60;

/** Views that everybody needs. */
const USUAL: readonly View[] = [
  { name: 'All', search: '' },
  { name: 'Running', search: 'status=running' },
  { name: 'Waiting', search: 'status=pending%2Cqueued%2Cscheduled' },
  { name: 'Waiting for a retry', search: 'status=failed%2Ctimeout' },
  { name: 'Failed for good', search: 'status=permanently_failed' },
];

/** Filters under a name: the usual ones, and those that this browser keeps. */
export function SavedViews({ filters }: { filters: Filters<typeof TASK_FILTERS> }): ReactElement {
  const [own, setOwn] = useState(readViews);
  const [name, setName] = useState('');
  const store = (views: readonly View[]): void => {
    setOwn([...views]);
    localStorage.setItem(KEY, JSON.stringify(views));
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = name.trim();
    if (trimmed === '') return;
    store([...own.filter((view) => view.name !== trimmed), { name: trimmed, search: filters.search }]);
    setName('');
  };
  const shown = [...USUAL, ...own].find(({ search }) => search === filters.search);
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button size="xs" variant="default" rightSection={<Icon name="expand" size={14} />}>
          View: {shown?.name ?? 'own filter'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {USUAL.map((view) => (
          <ViewItem key={view.name} view={view} />
        ))}
        {own.length === 0 ? null : <Menu.Divider />}
        {own.map((view) => (
          <div key={view.name} className={classes['own']}>
            <ViewItem view={view} />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Forget the view ${view.name}`}
              onClick={() => store(own.filter((each) => each !== view))}
            >
              <Icon name="trash" size={14} />
            </ActionIcon>
          </div>
        ))}
        <Menu.Divider />
        <form className={classes['save']} onSubmit={save}>
          <TextInput
            size="xs"
            aria-label="Name of the view"
            placeholder="Save these filters as"
            maxLength={MAX_NAME}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            onKeyDown={(event) => event.stopPropagation()}
          />
          <Button size="xs" variant="default" type="submit" disabled={name.trim() === ''}>
            Save
          </Button>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}

function ViewItem({ view: { name, search } }: { view: View }): ReactElement {
  return (
    <Menu.Item className={classes['view']} onClick={() => navigate(search === '' ? '/tasks' : `/tasks?${search}`)}>
      {name}
    </Menu.Item>
  );
}

function readViews(): View[] {
  try {
    return viewsSchema.parse(JSON.parse(localStorage.getItem(KEY) ?? '[]'));
  } catch {
    return [];
  }
}
