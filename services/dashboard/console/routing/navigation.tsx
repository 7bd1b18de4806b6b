import { useSyncExternalStore, type ComponentPropsWithoutRef, type MouseEvent, type ReactElement } from 'react';

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

/** The current path; it follows the browser's history. */
export function usePath(): string {
  return useSyncExternalStore(subscribe, readPath);
}

/** A query parameter of the address; null when it is absent. */
export function useSearchParameter(name: string): string | null {
  return new URLSearchParams(useSyncExternalStore(subscribe, readSearch)).get(name);
}

function readSearch(): string {
  return window.location.search;
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('popstate', onChange);
  window.addEventListener(MOVED, onChange);
  return () => {
    window.removeEventListener('popstate', onChange);
    window.removeEventListener(MOVED, onChange);
  };
}

function readPath(): string {
  return window.location.pathname;
}

/** The event that fires when the console shows another of its pages. */
const MOVED = 'muster:moved';

/** Shows another page of the console without a request to the server. */
export function navigate(path: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) window.history.replaceState(null, '', path);
  else window.history.pushState(null, '', path);
  window.dispatchEvent(new Event(MOVED));
}
