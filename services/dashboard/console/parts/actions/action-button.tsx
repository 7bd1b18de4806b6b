import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { useMay, type Scope } from '../../api/person.ts';
import { Icon, type IconName } from '../icon.tsx';
import { useAction, type Action } from './use-action.ts';

interface ActionButtonProps extends Action {
  /** Without this scope there is no button. */
  needs: Scope;
  text: string;
  icon?: IconName;
  danger?: boolean;
  size?: 'xs' | 'sm' | 'compact-xs';
}

const ICON_PX = 14;

/** A button that does an action. */
export function ActionButton({ needs, text, icon, danger = false, size = 'xs', ...action }: ActionButtonProps): ReactElement | null {
  const may = useMay(needs);
  const act = useAction();
  const [isBusy, setBusy] = useState(false);
  if (!may) return null;
  // Busy only once it is confirmed.
  const run = async (): Promise<void> => {
    setBusy(true);
    await action.run().finally(() => setBusy(false));
  };
  return (
    <Button
      size={size}
      variant={danger ? 'outline' : 'default'}
      {...(danger ? { color: 'red' } : {})}
      {...(icon === undefined ? {} : { leftSection: <Icon name={icon} size={ICON_PX} /> })}
      loading={isBusy}
      onClick={() => void act({ ...action, run })}
    >
      {text}
    </Button>
  );
}
