import { ActionIcon, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { Icon } from '../icon.tsx';
import type { Column } from './column.ts';

interface ColumnMenuProps<Row> {
  columns: readonly Column<Row>[];
  visibility: Readonly<Record<string, boolean>>;
  onChoose: (id: string, isShown: boolean) => void;
}

const ICON_PX = 16;

/** Chooses the columns of a table; the first one stays. */
export function ColumnMenu<Row>({ columns, visibility, onChoose }: ColumnMenuProps<Row>): ReactElement {
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label="Columns" title="Columns">
          <Icon name="columns" size={ICON_PX} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.slice(1).map(({ id, title }) => (
          <Menu.CheckboxItem key={id} checked={visibility[id] === true} onChange={(isShown) => onChoose(id, isShown)}>
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
