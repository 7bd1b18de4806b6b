import { useEffect, useEffectEvent } from 'react';
import { createStore } from '../actions/store.ts';

export interface PageKey {
  /** One character, or the name of a key like `Enter`. */
  readonly key: string;
  /** What it does, for the list of keys. */
  readonly text: string;
  readonly run: () => void;
}

/** The keys of everything that is mounted, for the list of keys. */
export const knownKeys = createStore<readonly Omit<PageKey, 'run'>[]>([]);

/** Single keys while the component is mounted, outside of fields and dialogs. */
export function useKeys(keys: readonly PageKey[]): void {
  const names = keys.map(({ key, text }) => `${key}\n${text}`).join('\n\n');
  const press = useEffectEvent((event: KeyboardEvent) => {
    const pressed = keys.find(({ key }) => key === event.key);
    if (pressed === undefined || isTaken(event)) return;
    event.preventDefault();
    pressed.run();
  });
  useEffect(() => {
    const listed = names.split('\n\n').flatMap((line) => {
      const [key, text] = line.split('\n');
      return key === undefined || text === undefined ? [] : [{ key, text }];
    });
    const onKey = (event: KeyboardEvent): void => press(event);
    window.addEventListener('keydown', onKey);
    knownKeys.change((before) => [...before, ...listed]);
    return () => {
      window.removeEventListener('keydown', onKey);
      knownKeys.change((before) => before.filter((each) => !listed.includes(each)));
    };
  }, [names]);
}

/** A box or a button of a choice takes no text. */
const FIELDS = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=dialog], [role=menu]';
/** These already have a meaning for Enter and Space. */
const PRESSABLE = 'a, button, summary, input';

function isTaken(event: KeyboardEvent): boolean {
  const isCombined = event.ctrlKey || event.metaKey || event.altKey;
  if (event.defaultPrevented || isCombined) return true;
  const target = event.target instanceof Element ? event.target : null;
  const taken = event.key === 'Enter' ? `${FIELDS}, ${PRESSABLE}` : FIELDS;
  return document.querySelector('[role=dialog]') !== null || Boolean(target?.closest(taken));
}
