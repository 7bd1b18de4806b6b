import { Button, Modal, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { EventRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { useSendOnce } from '../../parts/actions/use-send-once.ts';
import { Icon } from '../../parts/icon.tsx';
import { countText } from '../../parts/numbers.tsx';
import classes from './hooks.module.css';
import { readJsonText } from './json-text.ts';

const DELIVERS = [
  { value: 'all', label: 'all that wait for it' },
  { value: 'one', label: 'one of them, the first by priority and age' },
];

/** Opens a form that sends an event to runs that wait. `name`: the event that it has at first. */
export function SendEventButton({ name = '' }: { name?: string }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  if (!useMay('submit')) return null;
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Icon name="send" size={14} />} onClick={() => setOpen(true)}>
        Send an event
      </Button>
      <Modal opened={isOpen} onClose={close} title="Send an event" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <EventForm first={name} onDone={close} />
      </Modal>
    </>
  );
}

function EventForm({ first, onDone }: { first: string; onDone: () => void }): ReactElement {
  const [name, setName] = useState(first);
  const [data, setData] = useState('{}');
  const [deliver, setDeliver] = useState<'all' | 'one'>('all');
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const act = useAction();
  const sendOnce = useSendOnce();
  const submit = async (submitted: SubmitEvent<HTMLFormElement>): Promise<void> => {
    submitted.preventDefault();
    const read = readJsonText(data);
    setProblem(read.problem);
    if (read.problem !== null) return;
    const event = { name, data: read.value, deliver };
    let resumed = 0;
    const send = async (id: string): Promise<number> => await sendEvent({ ...event, id });
    const run = async (): Promise<void> => void (resumed = await sendOnce(JSON.stringify(event), send));
    setSending(true);
    const isSent = await act({ run, done: () => sentText(name, resumed), refresh: [['task']] });
    setSending(false);
    if (isSent) onDone();
  };
  return (
    <form className={classes['form']} onSubmit={(submitted) => void submit(submitted)}>
      <TextInput
        label="Name"
        required
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Textarea
        label="Data"
        description="JSON, which the runs get. A run with “match” goes on if its fields are equal."
        autosize
        minRows={4}
        maxRows={16}
        error={problem}
        value={data}
        onChange={({ currentTarget }) => setData(currentTarget.value)}
      />
      <NativeSelect
        label="Goes to"
        data={DELIVERS}
        value={deliver}
        onChange={({ currentTarget }) => setDeliver(currentTarget.value === 'one' ? 'one' : 'all')}
      />
      <div className={classes['buttons']}>
        <Button type="submit" loading={isSending}>
          Send
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

async function sendEvent(body: EventRequest): Promise<number> {
  return (await answerOf(api.POST('/v1/events', { body }))).resumed;
}

/** What to say of an event that was sent. */
export function sentText(name: string, resumed: number): string {
  if (resumed === 0) return `No run waits for “${name}” with these data. It is kept for those that begin to.`;
  return resumed === 1 ? '1 run goes on' : `${countText(resumed)} runs go on`;
}
