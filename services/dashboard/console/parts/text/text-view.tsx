import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { CopyButton } from '../copy.tsx';
import { ScrollBox } from '../scroll-box.tsx';
import { JsonLines } from './json-view.tsx';
import { AgentText } from './markdown.tsx';
import classes from './text.module.css';

interface TextViewProps {
  text: string;
  /** What it is, for screen readers. */
  label: string;
  /** Whether it is the plain output of a program. Defaults to false. */
  isPlain?: boolean;
}

/** A text as what it is, JSON or Markdown; as it was written on demand. */
export function TextView({ text, label, isPlain = false }: TextViewProps): ReactElement {
  const [isRaw, setRaw] = useState(false);
  const json = parsedJson(text);
  return (
    <div className={classes['view']}>
      <div className={classes['tools']}>
        <Button size="compact-xs" variant={isRaw ? 'light' : 'default'} aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </Button>
        <CopyButton value={text} />
      </div>
      <ScrollBox className={classes['box']} label={label}>
        {text === '' ? (
          <p className="faint">Empty</p>
        ) : isRaw ? (
          <pre>{text}</pre>
        ) : json === undefined ? (
          <AgentText text={text} isPlain={isPlain} />
        ) : (
          <JsonLines value={json} />
        )}
      </ScrollBox>
    </div>
  );
}

/** The value of a JSON object or list; undefined for any other text. */
function parsedJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
