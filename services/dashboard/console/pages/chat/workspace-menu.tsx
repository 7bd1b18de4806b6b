import { Button, Popover } from '@mantine/core';
import type { ReactElement } from 'react';
import type { Session } from '#shared/client/openapi.gen.ts';
import { Icon } from '../../parts/icon.tsx';
import { bytesText } from '../../parts/numbers.tsx';
import { Age } from '../../parts/time.tsx';
import classes from './chat-page.module.css';

type Workspaces = Session['workspaces'];

/** What programs of the conversation keep for their next run, with what they have changed. Nothing where they keep nothing. */
export function WorkspaceMenu({ workspaces }: { workspaces: Workspaces | undefined }): ReactElement | null {
  if (workspaces === undefined || workspaces.length === 0) return null;
  return (
    <Popover position="bottom-end" width="min(36rem, 90vw)" withinPortal trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<Icon name="file" size={14} />}>
          Workspace
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {workspaces.map((workspace) => (
          <Workspace key={workspace.agent} {...workspace} />
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}

function Workspace({ agent, keptAt, expiresAt, bytes, changes, daemon }: Workspaces[number]): ReactElement {
  return (
    <section aria-label={`Workspace of ${agent}`}>
      <strong>{agent}</strong>{' '}
      <span className="faint" title={`Kept until ${expiresAt}`}>
        {bytes === null ? 'In use' : bytesText(bytes)}, kept <Age at={keptAt} of="last kept" />
        {daemon === null ? null : ` on ${daemon.name ?? daemon.id}${daemon.status === 'offline' ? ', which is offline' : ''}`}
      </span>
      {changes === null ? null : (
        <pre tabIndex={0} className={classes['changes']}>
          {changes === '' ? 'Nothing was changed in its checkout.' : changes}
        </pre>
      )}
    </section>
  );
}
