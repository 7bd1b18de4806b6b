import type { ComponentPropsWithoutRef, MouseEvent, ReactElement } from 'react';
import { goTo } from './use-path.ts';

export interface PageLinkProps extends ComponentPropsWithoutRef<'a'> {
  href: string;
}

/** A link to another page of the console: followed here, except when the person wants it in another tab or window. */
export function PageLink({ href, onClick, children, ...rest }: PageLinkProps): ReactElement {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const wantsElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
    if (event.defaultPrevented || wantsElsewhere) return;
    event.preventDefault();
    goTo(href);
  };
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  );
}
