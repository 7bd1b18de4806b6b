/** A value outside of React that components follow. */
export interface Store<Value> {
  readonly read: () => Value;
  readonly change: (next: (before: Value) => Value) => void;
  readonly subscribe: (onChange: () => void) => () => void;
}

export function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    read: () => value,
    change: (next) => {
      value = next(value);
      for (const listener of listeners) listener();
    },
    subscribe: (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}
