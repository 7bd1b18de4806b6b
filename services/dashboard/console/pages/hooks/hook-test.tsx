import { Button, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Hook, HookTaskMade } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { hookKey } from '../../api/query-keys.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { taskPath } from '../../routing/paths.ts';
import { navigate } from '../../routing/navigation.tsx';
import classes from './hooks.module.css';
import { readJsonText } from './json-text.ts';
import { sentText } from './send-event.tsx';

const EXAMPLE = '{\n  "action": "opened",\n  "number": 7\n}';

/** Does what the hook makes of an event of its sender, without a proof. */
export function TestForm({ hook, onDone }: { hook: Hook; onDone: () => void }): ReactElement {
  const [event, setEvent] = useState('test');
  const [payload, setPayload] = useState(EXAMPLE);
  const [problem, setProblem] = useState<string | null>(null);
  const act = useAction();
  const submit = async (submitted: SubmitEvent<HTMLFormElement>): Promise<void> => {
    submitted.preventDefault();
    const parsed = readJsonText(payload);
    setProblem(parsed.problem);
    if (parsed.problem !== null) return;
    let made: HookTaskMade = { id: '', status: null };
    const run = async (): Promise<void> => {
      made = await answerOf(api.POST('/v1/hooks/{id}/test', { ...byId(hook.id), body: { event: event, payload: parsed.value } }));
    };
    const done = (): string => (hook.event === null ? 'The test made a task' : sentText(hook.event, made.resumed ?? 0));
    if (!(await act({ run, done, refresh: [hookKey(hook.id)] }))) return;
    onDone();
    if (hook.event === null) navigate(taskPath({ id: made.id, tenant: null }));
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
