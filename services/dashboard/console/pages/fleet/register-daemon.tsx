import { Button, Modal, NumberInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { DaemonWithToken, NewDaemon } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { CommandLine, SecretOnce } from '../../parts/secret-once.tsx';
import classes from './fleet.module.css';

/** A button that registers a daemon and shows its token. */
export function RegisterDaemon(): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<DaemonWithToken | null>(null);
  const queries = useQueryClient();
  if (!useMay('operate')) return null;
  const close = (): void => {
    setOpen(false);
    setMade(null);
  };
  const onMade = (daemon: DaemonWithToken): void => {
    setMade(daemon);
    void queries.invalidateQueries({ queryKey: ['fleet'] });
  };
  return (
    <>
      <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setOpen(true)}>
        Register daemon
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        size="lg"
        title={made === null ? 'Register a daemon' : `${made.name} is registered`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {made === null ? <DaemonForm onMade={onMade} onCancel={close} /> : <DaemonToken daemon={made} onClose={close} />}
      </Modal>
    </>
  );
}

interface DaemonTokenProps {
  daemon: DaemonWithToken;
  onClose: () => void;
}

/** A daemon's new token, with the line that starts the daemon. */
export function DaemonToken({ daemon, onClose }: DaemonTokenProps): ReactElement {
  const start = `MUSTER_DAEMON_TOKEN=${daemon.token} npx muster daemon --hub ${window.location.origin} --preset claude-code`;
  return (
    <>
      <SecretOnce title={`The token of ${daemon.name}`} secret={daemon.token}>
        <p>
          Start the daemon on its machine, in a clone of Muster or a folder where muster-fleet is installed: elsewhere npx runs a package of
          another owner. Replace the preset by the coding agent or the command that runs its tasks.
        </p>
        <CommandLine text={start} label="Copy the line" />
      </SecretOnce>
      <div className={classes['buttons']}>
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </>
  );
}

interface DaemonFormProps {
  onMade: (daemon: DaemonWithToken) => void;
  onCancel: () => void;
}

const EMPTY = { name: '', user: '', capabilities: '', agents: '', slots: '' as number | string };

function DaemonForm({ onMade, onCancel }: DaemonFormProps): ReactElement {
  const [draft, setDraft] = useState(EMPTY);
  const save = useMutation({ mutationFn: () => answerOf(api.POST('/v1/daemons', { body: registrationOf(draft) })), onSuccess: onMade });
  const change = (changes: Partial<typeof EMPTY>): void => setDraft({ ...draft, ...changes });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className={classes['form']} onSubmit={submit}>
      <TextInput
        label="Name"
        description="For people, and for tasks that name it as their target."
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Capabilities"
        description="What it may declare, separated by commas; empty for whatever it declares."
        placeholder="code, browser"
        value={draft.capabilities}
        onChange={(event) => change({ capabilities: event.currentTarget.value })}
      />
      <TextInput
        label="Agents"
        description="Agents whose tasks it may run, separated by commas; empty for any."
        value={draft.agents}
        onChange={(event) => change({ agents: event.currentTarget.value })}
      />
      <NumberInput
        label="Slots"
        description="Tasks at once; empty for as many as it declares."
        min={1}
        allowDecimal={false}
        value={draft.slots}
        onChange={(slots) => change({ slots })}
      />
      <TextInput
        label="User"
        description="Only tasks of this user reach it; empty for tasks of all."
        value={draft.user}
        onChange={(event) => change({ user: event.currentTarget.value })}
      />
      {save.error === null ? null : <ProblemNote title="It was not registered" error={save.error} />}
      <div className={classes['buttons']}>
        <Button type="submit" loading={save.isPending}>
          Register
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function registrationOf({ name, user, capabilities, agents, slots }: typeof EMPTY): NewDaemon {
  return {
    name: name.trim(),
    user: user.trim() || null,
    capabilities: listOfNames(capabilities),
    agents: listOfNames(agents),
    slots: slots === '' ? null : Number(slots),
  };
}

/** Names separated by commas; null when there is none. */
function listOfNames(text: string): string[] | null {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? null : names;
}
