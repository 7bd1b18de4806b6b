import { Button, Modal } from '@mantine/core';
import { lazy, Suspense, useSyncExternalStore, type ReactElement } from 'react';
import { useMay } from '../../api/person.ts';
import { createStore } from '../actions/store.ts';
import { Icon } from '../icon.tsx';

/** Loaded when it is first opened. */
const NewTaskForm = lazy(async () => ({ default: (await import('./new-task-form.tsx')).NewTaskForm }));

const isOpen = createStore(false);

/** Opens the form for a new task, from any page. */
export function openNewTask(): void {
  isOpen.change(() => true);
}

export function NewTaskButton(): ReactElement | null {
  if (!useMay('submit')) return null;
  return (
    <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={openNewTask}>
      New task
    </Button>
  );
}

/** The form for a new task; the shell shows it. */
export function NewTaskDialog(): ReactElement {
  const shown = useSyncExternalStore(isOpen.subscribe, isOpen.read);
  const close = (): void => isOpen.change(() => false);
  return (
    <Modal opened={shown} onClose={close} title="New task" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Suspense fallback={null}>
        <NewTaskForm onDone={close} />
      </Suspense>
    </Modal>
  );
}
