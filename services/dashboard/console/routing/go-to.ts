/** Fires when the console goes to another of its own pages. */
export const MOVED = 'muster:moved';

/** Shows another page of the console, without asking the server for it. */
export function goTo(path: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) window.history.replaceState(null, '', path);
  else window.history.pushState(null, '', path);
  window.dispatchEvent(new Event(MOVED));
}
