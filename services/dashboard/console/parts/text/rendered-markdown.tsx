import { memo, type ReactElement } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './text.module.css';

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  // The target of an agent's link must get neither this window nor this address.
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // Loading an image would show its server that the answer was read, so it is a link.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt === undefined || alt === '' ? 'Image' : alt}
    </a>
  ),
  // Wide blocks scroll by themselves, also by keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <section className={classes['wide']} tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
};

/** An agent's text as Markdown. HTML in it shows as text, and links that would run scripts lose their address. */
export const RenderedMarkdown = memo(function RenderedMarkdown({ text }: { text: string }): ReactElement {
  return (
    <div className={classes['text']}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
