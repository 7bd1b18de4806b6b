import { lazy, Suspense, type ReactElement } from 'react';

/** The library is loaded with the first text. */
const Rendered = lazy(async () => ({ default: (await import('./rendered-markdown.tsx')).RenderedMarkdown }));

/** An agent's text as Markdown; plain until the library is loaded. */
export function Markdown({ text }: { text: string }): ReactElement {
  return (
    <Suspense fallback={<div>{text}</div>}>
      <Rendered text={text} />
    </Suspense>
  );
}
