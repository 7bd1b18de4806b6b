import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { type Scope, useMay } from '../../api/person.ts';
import { Icon, type IconName } from '../icon.tsx';
import { useAction, type Action } from './use-action.ts';
import { useBusy } from './use-busy.ts';

interface ActionButtonProps extends Action {
  /** Without this scope there is no button. */
  needs: Scope;
  text: string;
  icon?: IconName;
  danger?: boolean;
  /** Of several beside each other the usual one. */
  primary?: boolean;
  size?: 'xs' | 'sm' | 'compact-xs';
}

const ICON_PX = 14;

/** A button that does an action. */
export function ActionButton(props: ActionButtonProps): ReactElement | null {
  const { needs, text, icon, danger = false, primary = false, size = 'xs', ...action } = props;
  const may = useMay(needs);
  const act = useAction();
  const { button, isBusy, whileBusy } = useBusy();
  if (!may) return null;
  // Busy only once it is confirmed.
  const run = (): Promise<unknown> => whileBusy(action.run);
  return (
    <Button
      ref={button}
      size={size}
      variant={danger ? 'outline' : primary ? 'filled' : 'default'}
      {...(danger ? { color: 'red' } : {})}
      {...(icon === undefined ? {} : { leftSection: <Icon name={icon} size={ICON_PX} /> })}
      loading={isBusy}
      onClick={() => void act({ ...action, run })}
    >
      {text}
    </Button>
  );
}
