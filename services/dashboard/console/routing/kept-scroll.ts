import { useLayoutEffect, type RefObject } from 'react';
import { useHistoryState } from 'wouter/use-browser-location';

/** A page that was left is longer only once its data are there again, so its place is tried until then. */
const RESTORE_MS = 15_000;
/** What a person does with a page ends that. */
const USES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
/** Each write to the storage takes as long as some rows of a table. */
const STORE_MS = 200;

/** Keeps the scroll position of each entry of the browser's history, for Back and for reloads. */
export function useKeptScroll(box: RefObject<HTMLElement | null>): void {
  const state: unknown = useHistoryState();
  const key = keyOf(state);
  // Before the page is replaced: the box of a shorter page scrolls up, which is no place that a person left.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const stopRestoring = restoreScroll(element, readScroll(key));
    const stopStoring = storeScrolling(key, element);
    return () => {
      stopRestoring();
      stopStoring();
    };
  }, [box, key]);
}

/** Stores where a box is scrolled to. Returns a function that ends it. */
function storeScrolling(key: string, box: HTMLElement): () => void {
  let top = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const store = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    storeScroll(key, top);
  };
  const onScroll = (): void => {
    top = box.scrollTop;
    timer ??= setTimeout(store, STORE_MS);
  };
  box.addEventListener('scroll', onScroll, { passive: true });
  window.addEventListener('pagehide', store);
  return () => {
    box.removeEventListener('scroll', onScroll);
    window.removeEventListener('pagehide', store);
    store();
  };
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
    for (const name of USES) box.removeEventListener(name, stop);
  };
  const timer = setTimeout(stop, RESTORE_MS);
  for (const name of USES) box.addEventListener(name, stop, { passive: true });
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
