import type { ReactElement } from 'react';
import { CopyButton } from '../copy.tsx';
import { ScrollBox } from '../scroll-box.tsx';
import classes from './text.module.css';

/** A JSON value with its own copy button. */
export function JsonView({ value, label }: { value: unknown; label: string }): ReactElement {
  return (
    <div className={classes['view']}>
      <div className={classes['tools']}>
        <CopyButton value={JSON.stringify(value, null, 2)} text="Copy JSON" />
      </div>
      <ScrollBox className={classes['box']} label={label}>
        <JsonLines value={value} />
      </ScrollBox>
    </div>
  );
}

const INDENT = 2;
/** A key with its colon, a string, or another scalar. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Longer texts are shown without colours, which cost an element each. */
const MAX_COLOURED = 100_000;

/** Indented JSON, with keys and values in colours. */
export function JsonLines({ value }: { value: unknown }): ReactElement {
  const text = JSON.stringify(value, null, INDENT) ?? 'undefined';
  return <pre className={classes['json']}>{text.length > MAX_COLOURED ? text : coloured(text)}</pre>;
}

function coloured(text: string): (ReactElement | string)[] {
  const parts: (ReactElement | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match;
    parts.push(text.slice(end, match.index));
    const kind = string === undefined ? 'scalar' : colon === undefined ? 'string' : 'key';
    parts.push(
      <span key={match.index} className={classes[kind]}>
        {string ?? token}
      </span>,
    );
    if (colon !== undefined) parts.push(colon);
    end = match.index + token.length;
  }
  parts.push(text.slice(end));
  return parts;
}
