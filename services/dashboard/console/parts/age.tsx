import type { ReactElement } from 'react';
import { durationText } from '../../duration-text.ts';
import { useNow } from './use-now.ts';

/** How long ago a time is, with the exact one on hover. `at` is an ISO time. */
export function Age({ at }: { at: string }): ReactElement {
  const ms = useNow() - Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {ms < 1000 ? 'just now' : `${durationText(ms)} ago`}
    </time>
  );
}
