import { Button, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import { answerOf, api, byId } from '../../api/api.ts';
import { hookKey } from '../../api/query-keys.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { taskPath } from '../../routing/paths.ts';
import { navigate } from '../../routing/navigation.tsx';
import classes from './hooks.module.css';

const EXAMPLE = '{\n  "action": "opened",\n  "number": 7\n}';

/** Makes a task as the hook's sender would, without a proof. */
export function TestForm({ hook, onDone }: { hook: string; onDone: () => void }): ReactElement {
  const [event, setEvent] = useState('test');
  const [payload, setPayload] = useState(EXAMPLE);
  const [problem, setProblem] = useState<string | null>(null);
  const act = useAction();
  const submit = async (submitted: SubmitEvent<HTMLFormElement>): Promise<void> => {
    submitted.preventDefault();
    const parsed = parse(payload);
    setProblem(parsed.problem);
    if (parsed.problem !== null) return;
    let task = '';
    const run = async (): Promise<void> => {
      ({ id: task } = await answerOf(api.POST('/v1/hooks/{id}/test', { ...byId(hook), body: { event: event, payload: parsed.value } })));
    };
    if (!(await act({ run, done: 'The test made a task', refresh: [hookKey(hook)] }))) return;
    onDone();
    navigate(taskPath({ id: task, tenant: null }));
  };
  return (
    <form className={classes['form']} onSubmit={(submitted) => void submit(submitted)}>
      <TextInput
        label="Event"
        required
        autoComplete="off"
        data-autofocus
        value={event}
        onChange={({ currentTarget }) => setEvent(currentTarget.value)}
      />
      <Textarea
        label="Payload"
        description="JSON, as the sender would post it"
        autosize
        minRows={4}
        maxRows={16}
        error={problem}
        value={payload}
        onChange={({ currentTarget }) => setPayload(currentTarget.value)}
      />
      <div className={classes['buttons']}>
        <Button type="submit">Send</Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function parse(text: string): { value: unknown; problem: string | null } {
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: null, problem: error instanceof Error ? error.message : String(error) };
  }
}
