import { Alert } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** Yellow text of Mantine's is too pale to read on white. */
const TITLE = { title: { color: 'var(--warn)' } };

/** Something that a person should know before going on. */
export function WarningNote({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <Alert color="yellow" variant="outline" title={title} styles={TITLE}>
      {children}
    </Alert>
  );
}
