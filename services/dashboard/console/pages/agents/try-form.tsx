import { Button, Textarea } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import { useMay } from '../../api/person.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';
import { createTask } from '../../parts/new-task/create-task.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { useSendOnce } from '../../parts/actions/use-send-once.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './agents.module.css';

/** Sends the agent a task, and shows it. */
export function TryForm({ agent, takesJson }: { agent: string; takesJson: boolean }): ReactElement | null {
  const [input, setInput] = useState('');
  const [isSending, setSending] = useState(false);
  const sendOnce = useSendOnce();
  const may = useMay('submit');
  const act = useAction();
  if (!may) return null;
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setSending(true);
    const task = { agent, input };
    let id = '';
    const run = async (): Promise<void> => {
      id = await sendOnce(JSON.stringify(task), (key) => createTask(task, key));
    };
    const isDone = await act({ run, done: 'The task is accepted', refresh: [AGENTS_KEY] });
    setSending(false);
    if (isDone) navigate(taskPath({ id, tenant: null }));
  };
  return (
    <Panel title="Try it">
      <form className={classes['form']} onSubmit={(event) => void submit(event)}>
        <Textarea
          aria-label="Input"
          placeholder={takesJson ? 'JSON, as “What it takes” below says' : 'What it should do'}
          required
          autosize
          minRows={2}
          maxRows={10}
          value={input}
          onChange={({ currentTarget }) => setInput(currentTarget.value)}
        />
        <div className={classes['buttons']}>
          <Button type="submit" size="xs" loading={isSending}>
            Send
          </Button>
        </div>
      </form>
    </Panel>
  );
}
