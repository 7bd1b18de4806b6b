import { lazy, Suspense, type ReactElement } from 'react';
import classes from './text.module.css';

/** The library is loaded with the first text. */
const Rendered = lazy(async () => ({ default: (await import('./rendered-markdown.tsx')).RenderedMarkdown }));

/** An agent's text as Markdown, or as it was written where it is the plain output of a program. */
export function AgentText({ text, isPlain }: { text: string; isPlain: boolean }): ReactElement {
  if (!isPlain) return <Markdown text={text} />;
  return (
    <div className={classes['text']}>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}

/** An agent's text as Markdown; plain until the library is loaded. */
function Markdown({ text }: { text: string }): ReactElement {
  return (
    <Suspense fallback={<div>{text}</div>}>
      <Rendered text={text} />
    </Suspense>
  );
}
