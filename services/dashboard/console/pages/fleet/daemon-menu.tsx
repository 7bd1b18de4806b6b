import { ActionIcon, Menu, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Daemon, DaemonWithToken } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { DaemonToken } from './register-daemon.tsx';

/** What an operator may do with a daemon. */
export function DaemonMenu({ daemon }: { daemon: Daemon }): ReactElement | null {
  const [rotated, setRotated] = useState<DaemonWithToken | null>(null);
  const actions = useDaemonActions(daemon, setRotated);
  if (!useMay('operate')) return null;
  const { name, enabled } = daemon;
  const close = (): void => setRotated(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Actions for ${name}`}>
            <Icon name="list" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={actions.rotate}>Rotate token</Menu.Item>
          <Menu.Item onClick={actions.enable}>{enabled ? 'Disable' : 'Enable'}</Menu.Item>
          <Menu.Item color="red" onClick={actions.remove}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={rotated !== null}
        onClose={close}
        size="lg"
        title={`Another token for ${name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {rotated === null ? null : <DaemonToken daemon={rotated} onClose={close} />}
      </Modal>
    </>
  );
}

const REFRESH = [['fleet']] as const;

interface DaemonActions {
  rotate: () => void;
  enable: () => void;
  remove: () => void;
}

function useDaemonActions({ id, name, enabled }: Daemon, onRotated: (daemon: DaemonWithToken) => void): DaemonActions {
  const act = useAction();
  const rotate = (): Promise<boolean> =>
    act({
      run: async () => onRotated(await answerOf(api.POST('/v1/daemons/{id}/rotate', byId(id)))),
      done: `${name} has another token`,
      refresh: REFRESH,
      confirm: {
        title: `Give ${name} another token?`,
        text: 'Its present token opens nothing any more, and its connection is closed until it is started with the new one.',
        button: 'Rotate',
        danger: true,
      },
    });
  const enable = (): Promise<boolean> =>
    act({
      run: () => answerOf(api.PATCH('/v1/daemons/{id}', { ...byId(id), body: { enabled: !enabled } })),
      done: `${name} is ${enabled ? 'disabled' : 'enabled'}`,
      refresh: REFRESH,
      undo: () => answerOf(api.PATCH('/v1/daemons/{id}', { ...byId(id), body: { enabled: enabled } })),
    });
  const remove = (): Promise<boolean> =>
    act({
      run: () => answerOf(api.DELETE('/v1/daemons/{id}', byId(id))),
      done: `${name} is removed`,
      refresh: REFRESH,
      confirm: {
        title: `Remove ${name}?`,
        text: 'Its token opens nothing any more, and its connection is closed. Tasks that name it as their target fail.',
        button: 'Remove',
        danger: true,
      },
    });
  return { rotate: () => void rotate(), enable: () => void enable(), remove: () => void remove() };
}
