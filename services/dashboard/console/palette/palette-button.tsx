import { ActionIcon, Modal, UnstyledButton } from '@mantine/core';
import { lazy, Suspense, useEffect, useState, type ReactElement } from 'react';
import { Icon } from '../parts/icon.tsx';
import classes from './palette.module.css';

/** Loaded when it is first opened. */
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** Opens the palette, as Ctrl-K does from everywhere. */
export function PaletteButton(): ReactElement {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  const close = (): void => setOpen(false);
  return (
    <>
      <UnstyledButton className={classes['wide'] ?? ''} onClick={() => setOpen(true)}>
        <Icon name="search" size={14} /> Go to, find, do <kbd>Ctrl K</kbd>
      </UnstyledButton>
      <ActionIcon
        className={classes['narrow'] ?? ''}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Go to, find, do"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
      </ActionIcon>
      <Modal opened={isOpen} onClose={close} withCloseButton={false} centered={false} size="lg" title="Go to, find, do">
        <Suspense fallback={null}>
          <Palette onDone={close} />
        </Suspense>
      </Modal>
    </>
  );
}
