import type { ComponentPropsWithoutRef, MouseEvent, ReactElement } from 'react';
import { navigate as changeLocation } from 'wouter/use-browser-location';
import { useShownLocation } from './shown-location.tsx';

interface PageLinkProps extends ComponentPropsWithoutRef<'a'> {
  href: string;
}

/** A link within the console. It changes the page without a reload, unless the person opens another tab or window. */
export function PageLink({ href, onClick, children, ...rest }: PageLinkProps): ReactElement {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const opensElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
    if (event.defaultPrevented || opensElsewhere) return;
    event.preventDefault();
    navigate(href);
  };
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  );
}

/** The path of the shown page; it follows the browser's history. */
export function usePath(): string {
  return useShownLocation().path;
}

/** A query parameter of the address; null when it is absent. */
export function useSearchParameter(name: string): string | null {
  return new URLSearchParams(useShownLocation().search).get(name);
}

/** Shows another page of the console without a request to the server. */
export function navigate(path: string, { replace = false }: { replace?: boolean } = {}): void {
  // A replaced entry keeps its key, by which its scroll position is stored.
  const state: unknown = replace ? window.history.state : { key: entryKey() };
  changeLocation(path, { replace, state });
}

function entryKey(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
}
