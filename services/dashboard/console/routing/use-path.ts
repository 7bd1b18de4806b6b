import { useSyncExternalStore } from 'react';

/** The path of the page, also after going back and forth. */
export function usePath(): string {
  return useSyncExternalStore(subscribe, readPath);
}

/** A parameter of the page's address; null when it has none of that name. */
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

/** Fires when the console goes to another of its own pages. */
const MOVED = 'muster:moved';

/** Shows another page of the console, without asking the server for it. */
export function goTo(path: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) window.history.replaceState(null, '', path);
  else window.history.pushState(null, '', path);
  window.dispatchEvent(new Event(MOVED));
}
