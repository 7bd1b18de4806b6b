import { Skeleton } from '@mantine/core';
import { useDeferredValue, type ReactElement, type ReactNode } from 'react';
import { ProblemNote } from '../notes/problem-note.tsx';

interface QueryViewProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  /** Of the note when the data could not be read. */
  title: string;
  /** The height of the placeholder in pixels. */
  height?: number;
  children: (data: Data) => ReactNode;
}

const HEIGHT = 240;

/**
 * What a query has read: a placeholder first, then the data, which stay with a note when a later read fails. The first time they are rendered
 * in steps between frames, because all of a page at once takes longer than a frame.
 */
export function QueryView<Data>({ query, title, height = HEIGHT, children }: QueryViewProps<Data>): ReactElement {
  const { data, error, refetch } = query;
  const isOpen = useDeferredValue(data !== undefined, false);
  const note = error === null ? null : <ProblemNote title={title} error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return note ?? <Skeleton height={height} radius="md" />;
  return (
    <>
      {note}
      {isOpen ? children(data) : null}
    </>
  );
}

interface EmptyNoteProps {
  title: string;
  /** What to do about it. */
  text: ReactNode;
}

/** Stands where there is nothing yet. */
export function EmptyNote({ title, text }: EmptyNoteProps): ReactElement {
  return (
    <section className="card">
      <h2>{title}</h2>
      <p>{text}</p>
    </section>
  );
}
