import { memo, type ReactElement } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './markdown-text.module.css';

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  // Whoever opens a link of an agent's leaves: the page it leads to gets neither this window nor this address.
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // An image would tell its server that the answer was read, so it is a link that a person may follow.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt === undefined || alt === '' ? 'Image' : alt}
    </a>
  ),
  // Wider than the page, they scroll by themselves, also by keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <section className={classes['wide']} tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
};

/** What an agent wrote, as Markdown. HTML in it is shown as text, and addresses that run scripts lead nowhere. */
export const MarkdownText = memo(function MarkdownText({ text }: { text: string }): ReactElement {
  return (
    <div className={classes['text']}>
      <Markdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </Markdown>
    </div>
  );
});
