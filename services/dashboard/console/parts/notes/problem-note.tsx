import { Alert, Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { problemText } from '../../api/api-problem.ts';

export interface ProblemNoteProps {
  error: unknown;
  /** The action that failed. */
  title: string;
  onRetry?: () => void;
}

/** Shows an error beside the part of the page that failed. */
export function ProblemNote({ error, title, onRetry }: ProblemNoteProps): ReactElement {
  return (
    <Alert color="red" role="alert" title={title} variant="outline">
      {problemText(error)}
      {onRetry === undefined ? null : (
        <div>
          <Button mt="xs" size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </Alert>
  );
}
