import { Button, Modal } from '@mantine/core';
import { useSyncExternalStore, type ReactElement, type ReactNode } from 'react';
import classes from './actions.module.css';
import { createStore } from './store.ts';

export interface Confirmation {
  title: string;
  text: ReactNode;
  /** The words of the button that does it. */
  button: string;
  danger?: boolean;
}

interface OpenConfirmation extends Confirmation {
  answer: (isConfirmed: boolean) => void;
}

const current = createStore<OpenConfirmation | null>(null);

/** Resolves to whether the person confirmed. */
function confirm(confirmation: Confirmation): Promise<boolean> {
  current.read()?.answer(false);
  return new Promise((resolve) => {
    current.change(() => ({ ...confirmation, answer: resolve }));
  });
}

/** A function that asks for a confirmation. */
export function useConfirm(): typeof confirm {
  return confirm;
}

/** The dialog that asks; the shell shows it. */
export function ConfirmDialog(): ReactElement {
  const open = useSyncExternalStore(current.subscribe, current.read);
  const close = (isConfirmed: boolean): void => {
    current.read()?.answer(isConfirmed);
    current.change(() => null);
  };
  // A key that is held down, or pressed twice, must not do what cannot be undone.
  const isDanger = open?.danger === true;
  return (
    <Modal opened={open !== null} onClose={() => close(false)} title={open?.title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <div>{open?.text}</div>
      <div className={classes['buttons']}>
        <Button variant="default" data-autofocus={isDanger || undefined} onClick={() => close(false)}>
          Back
        </Button>
        <Button {...(isDanger ? { color: 'red' } : {})} data-autofocus={!isDanger || undefined} onClick={() => close(true)}>
          {open?.button}
        </Button>
      </div>
    </Modal>
  );
}
