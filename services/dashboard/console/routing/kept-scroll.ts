import { useEffect, type RefObject } from 'react';
import { useHistoryState } from 'wouter/use-browser-location';

/** A page that was left is longer only once its data are there again, so its place is tried until then. */
const RESTORE_MS = 3000;

/** Keeps the scroll position of each entry of the browser's history, for Back and for reloads. */
export function useKeptScroll(box: RefObject<HTMLElement | null>): void {
  const state: unknown = useHistoryState();
  const key = keyOf(state);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const stopRestoring = restoreScroll(element, readScroll(key));
    const onScroll = (): void => storeScroll(key, element.scrollTop);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      stopRestoring();
      element.removeEventListener('scroll', onScroll);
    };
  }, [box, key]);
}

/** Scrolls to `top` as soon as the content is long enough. Returns a function that gives up, as a person's own scrolling does. */
function restoreScroll(box: HTMLElement, top: number): () => void {
  box.scrollTop = top;
  if (box.scrollTop === top) return () => undefined;
  const growth = new MutationObserver(() => {
    box.scrollTop = top;
    if (box.scrollTop === top) stop();
  });
  const stop = (): void => {
    growth.disconnect();
    clearTimeout(timer);
    for (const name of ['wheel', 'touchstart', 'keydown']) box.removeEventListener(name, stop);
  };
  const timer = setTimeout(stop, RESTORE_MS);
  for (const name of ['wheel', 'touchstart', 'keydown']) box.addEventListener(name, stop, { passive: true });
  growth.observe(box, { childList: true, subtree: true, attributes: true });
  return stop;
}

function keyOf(state: unknown): string {
  const key = typeof state === 'object' && state !== null && 'key' in state ? state.key : null;
  return typeof key === 'string' ? key : window.location.pathname;
}

const storageKey = (key: string): string => `muster:scroll:${key}`;

function readScroll(key: string): number {
  return Number(sessionStorage.getItem(storageKey(key)) ?? 0);
}

function storeScroll(key: string, top: number): void {
  try {
    sessionStorage.setItem(storageKey(key), String(Math.round(top)));
  } catch {
    // A full or refused storage costs only the place.
  }
}
