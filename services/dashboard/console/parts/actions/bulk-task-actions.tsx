import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { useMay, type Scope } from '../../api/person.ts';
import { problemText } from '../../api/records.ts';
import { countAction, startAction, type TaskAction, type TaskActionTarget } from '../../api/task-actions.ts';
import { countText } from '../numbers.tsx';
import { useConfirm } from './confirm.tsx';
import { showJob } from './jobs.tsx';
import { notify } from './notices.tsx';

const ACTION_TEXTS: Readonly<Record<TaskAction, { text: string; needs: Scope; warning: string }>> = {
  retry: { text: 'Retry', needs: 'submit', warning: 'Each gets a new first attempt.' },
  cancel: { text: 'Cancel', needs: 'submit', warning: 'Running ones are stopped, with their sub-tasks.' },
  discard: { text: 'Discard', needs: 'operate', warning: 'Their records are removed for good.' },
};

interface BulkTaskActionsProps {
  target: TaskActionTarget;
  actions: readonly TaskAction[];
  /** The tasks in words, `all 312`; none where the text beside the buttons says it. */
  label?: string;
  size?: 'xs' | 'compact-xs';
  onStarted?: () => void;
}

/** Buttons that change many tasks, as a background job with progress. */
export function BulkTaskActions({ actions, label = '', size = 'xs', onStarted, target }: BulkTaskActionsProps): ReactElement {
  return (
    <>
      {actions.map((action) => (
        <BulkButton key={action} action={action} target={target} label={label} size={size} {...(onStarted ? { onStarted } : {})} />
      ))}
    </>
  );
}

interface BulkButtonProps extends Required<Omit<BulkTaskActionsProps, 'actions' | 'onStarted'>>, Pick<BulkTaskActionsProps, 'onStarted'> {
  action: TaskAction;
}

function BulkButton({ action, target, label, size, onStarted }: BulkButtonProps): ReactElement | null {
  const { text, needs, warning } = ACTION_TEXTS[action];
  const may = useMay(needs);
  const confirm = useConfirm();
  const [isBusy, setBusy] = useState(false);
  if (!may) return null;
  const start = async (): Promise<void> => {
    const { matched, exact } = await countAction(action, target);
    if (matched === 0) return notify({ text: `There is no task to ${text.toLowerCase()}` });
    const total = `${exact ? '' : 'at least '}${countText(matched)} ${matched === 1 ? 'task' : 'tasks'}`;
    const isConfirmed = await confirm({
      title: `${text} ${total}?`,
      text: warning,
      button: `${text} ${total}`,
      danger: action !== 'retry',
    });
    if (!isConfirmed) return undefined;
    showJob(await startAction(action, target));
    onStarted?.();
    return undefined;
  };
  const onClick = async (): Promise<void> => {
    setBusy(true);
    await start().catch((error: unknown) => notify({ text: problemText(error), tone: 'bad' }));
    setBusy(false);
  };
  return (
    <Button size={size} variant="default" loading={isBusy} onClick={() => void onClick()}>
      {label === '' ? text : `${text} ${label}`}
    </Button>
  );
}
