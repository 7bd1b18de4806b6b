import type { ReactElement, ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import classes from './secret-once.module.css';
import { WarningNote } from './notes/warning-note.tsx';

interface SecretOnceProps {
  /** What it is, `The token of laptop`. */
  title: string;
  secret: string;
  /** What to do with it. */
  children?: ReactNode;
}

/** A secret that the API shows a single time. */
export function SecretOnce({ title, secret, children }: SecretOnceProps): ReactElement {
  return (
    <WarningNote title={title}>
      <p className={classes['text']}>It is shown this once. Copy it now; it cannot be read again.</p>
      <CommandLine text={secret} label="Copy the secret" />
      {children}
    </WarningNote>
  );
}

/** A line to copy into a terminal. */
export function CommandLine({ text, label }: { text: string; label: string }): ReactElement {
  return (
    <div className={classes['line']}>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton value={text} text={label} />
    </div>
  );
}
