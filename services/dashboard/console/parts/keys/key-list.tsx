import { Kbd, Modal } from '@mantine/core';
import { useState, useSyncExternalStore, type ReactElement } from 'react';
import classes from './key-list.module.css';
import { knownKeys, useKeys } from './use-keys.ts';

const ALWAYS = [
  { key: 'Ctrl K', text: 'Go to a page or a record, or do something' },
  { key: '/', text: 'Search on this page' },
];

/** The dialog that `?` opens: every key of the page. */
export function KeyList(): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const keys = useSyncExternalStore(knownKeys.subscribe, knownKeys.read);
  useKeys([
    { key: '?', text: 'List the keys', run: () => setOpen(true) },
    { key: '/', text: '', run: focusSearch },
  ]);
  const listed = [...ALWAYS, ...keys.filter(({ text }) => text !== '')];
  return (
    <Modal opened={isOpen} onClose={() => setOpen(false)} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <dl className={classes['keys']}>
        {[...new Map(listed.map((each) => [each.key, each])).values()].map(({ key, text }) => (
          <div key={key}>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}

/** The search field of the page has the attribute `data-search`. */
function focusSearch(): void {
  document.querySelector<HTMLInputElement>('input[data-search]')?.focus();
}
