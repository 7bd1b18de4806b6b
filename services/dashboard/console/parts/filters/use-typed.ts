import { useState } from 'react';

interface Typed {
  /** What the field shows. */
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Makes a text the value, unless it is. */
  readonly report: (text: string) => void;
}

/** What a person types into a field before it becomes its value. A value that changes otherwise, by Back or Clear, replaces it. */
export function useTyped(value: string, onChange: (value: string) => void): Typed {
  const [text, setText] = useState(value);
  const [reported, setReported] = useState(value);
  if (value !== reported) {
    setReported(value);
    setText(value);
  }
  const report = (next: string): void => {
    if (next === value) return;
    setReported(next);
    onChange(next);
  };
  return { text, setText, report };
}
