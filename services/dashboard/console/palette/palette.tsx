import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useEffect, useState, type ReactElement } from 'react';
import { focusAsShown } from '../parts/keys/focus-as-shown.ts';
import { usePaletteItems } from './palette-items.ts';
import classes from './palette.module.css';

/** A field and what fits: pages, actions and records. Arrows choose, Enter goes. */
export function Palette({ onDone }: { onDone: () => void }): ReactElement {
  const [typed, setTyped] = useState('');
  // Escape closes the list, which is all that there is: its field keeps the key from the dialog.
  const store = useCombobox({ opened: true, onDropdownClose: onDone });
  const items = usePaletteItems(typed);
  const { selectFirstOption } = store;
  useEffect(() => {
    // Enter takes the first that fits, unless the arrows have chosen another.
    selectFirstOption();
    // oxlint-disable-next-line react/exhaustive-deps -- what a later read adds at the end changes no choice
  }, [typed, items.length > 0]);
  const submit = (key: string): void => {
    onDone();
    items.find((item) => item.key === key)?.run();
  };
  return (
    <Combobox store={store} onOptionSubmit={submit}>
      <Combobox.EventsTarget>
        <TextInput
          aria-label="Go to, find, do"
          placeholder="A page, a task’s id or text, a session, an agent, a schedule, or what to do"
          ref={focusAsShown}
          data-autofocus
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <Combobox.Options tabIndex={0} aria-label="What fits" className={classes['list'] ?? ''}>
        {items.map(({ key, kind, text, hint }) => (
          <Combobox.Option key={key} value={key} className={classes['item'] ?? ''}>
            <span className={classes['kind']}>{kind}</span>
            <span className={classes['text']}>{text}</span>
            {hint === undefined ? null : <span className={classes['hint']}>{hint}</span>}
          </Combobox.Option>
        ))}
        {items.length === 0 ? <Combobox.Empty>Nothing fits.</Combobox.Empty> : null}
      </Combobox.Options>
    </Combobox>
  );
}
