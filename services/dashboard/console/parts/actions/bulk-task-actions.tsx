import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import type { ActionRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api, randomKey } from '../../api/api.ts';
import { problemText } from '../../api/api-problem.ts';
import { type Scope, useMay } from '../../api/person.ts';
import type { TaskActionTarget } from './changed-tasks.ts';
import { countText } from '../numbers.tsx';
import { changedTasks } from './changed-tasks.ts';
import { useConfirm } from './confirm.tsx';
import { showJob } from './jobs.tsx';
import { notify } from './notices.tsx';
import { useBusy } from './use-busy.ts';
import { usePausedAgent } from './use-paused-agent.ts';

type TaskAction = ActionRequest['action'];

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
  /** The filter of the list in which named tasks were selected. */
  within?: Readonly<Record<string, unknown>>;
  onStarted?: () => void;
}

/** Buttons that change many tasks, as a background job with progress. */
export function BulkTaskActions({ actions, ...rest }: BulkTaskActionsProps): ReactElement {
  return (
    <>
      {actions.map((action) => (
        <BulkButton key={action} action={action} {...rest} />
      ))}
    </>
  );
}

interface BulkButtonProps extends Omit<BulkTaskActionsProps, 'actions'> {
  action: TaskAction;
}

/** The agent whose tasks these are, where the filter names one. */
function agentOf(target: TaskActionTarget): string | null {
  const agent = 'filter' in target ? target.filter?.['agent'] : undefined;
  return typeof agent === 'string' ? agent : null;
}

const EVERYTHING = {};

function BulkButton({ action, target, label = '', size = 'xs', within = EVERYTHING, onStarted }: BulkButtonProps): ReactElement | null {
  const { text, needs, warning } = ACTION_TEXTS[action];
  const may = useMay(needs);
  const confirm = useConfirm();
  // Not busy while the dialog asks: the person is the one who is waited for.
  const { button, isBusy, whileBusy } = useBusy();
  const paused = usePausedAgent(action === 'retry' ? agentOf(target) : null);
  if (!may) return null;
  const start = async (): Promise<void> => {
    const { matched, exact } = await whileBusy(() =>
      answerOf(api.POST('/v1/tasks/actions', { body: { action, ...target, dryRun: true } })),
    );
    if (matched === 0) return notify({ text: `There is no task to ${text.toLowerCase()}` });
    const total = `${exact ? '' : 'at least '}${countText(matched)} ${matched === 1 ? 'task' : 'tasks'}`;
    const isConfirmed = await confirm({
      title: `${text} ${total}?`,
      text: paused === null ? warning : `${warning} ${paused}`,
      button: `${text} ${total}`,
      danger: action !== 'retry',
    });
    if (!isConfirmed) return undefined;
    const record = await whileBusy(() =>
      answerOf(api.POST('/v1/tasks/actions', { body: { action, ...target }, headers: { 'Idempotency-Key': randomKey() } })),
    );
    if (!('id' in record)) return undefined;
    showJob({ record, link: changedTasks(action, target, within) });
    onStarted?.();
    return undefined;
  };
  const onClick = (): void => {
    start().catch((error: unknown) => notify({ text: problemText(error), tone: 'bad' }));
  };
  return (
    <Button ref={button} size={size} variant="default" loading={isBusy} onClick={onClick}>
      {label === '' ? text : `${text} ${label}`}
    </Button>
  );
}
