import { Button, NativeSelect, Textarea } from '@mantine/core';
import { useState, type FormEvent, type ReactElement } from 'react';
import { useAgentNames } from '../../api/known-agents.ts';
import { createTask } from './create-task.ts';
import { navigate } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { useSendOnce } from '../actions/use-send-once.ts';
import { focusAsShown } from '../keys/focus-as-shown.ts';
import { ProblemNote } from '../notes/problem-note.tsx';
import classes from './new-task.module.css';

const ROWS = 5;

/** The fields of a new task. */
export function NewTaskForm({ onDone }: { onDone: () => void }): ReactElement {
  const agents = useAgentNames();
  const [agent, setAgent] = useState('');
  const [input, setInput] = useState('');
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const sendOnce = useSendOnce();
  const chosen = agent === '' ? agents[0] : agent;
  const submit = async (): Promise<void> => {
    if (chosen === undefined) return;
    setBusy(true);
    try {
      const task = { agent: chosen, input };
      const id = await sendOnce(JSON.stringify(task), (key) => createTask(task, key));
      onDone();
      navigate(taskPath({ id, tenant: null }));
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void submit();
  };
  return (
    <form className={classes['form']} onSubmit={onSubmit}>
      <NativeSelect label="Agent" data={[...agents]} value={chosen ?? ''} onChange={({ currentTarget }) => setAgent(currentTarget.value)} />
      <Textarea
        label="Input"
        autosize={false}
        rows={ROWS}
        ref={focusAsShown}
        data-autofocus
        value={input}
        onChange={({ currentTarget }) => setInput(currentTarget.value)}
      />
      {problem === null ? null : <ProblemNote title="The task was not accepted" error={problem} />}
      <Button type="submit" loading={isBusy} disabled={input.trim() === '' || chosen === undefined}>
        Run it
      </Button>
    </form>
  );
}
