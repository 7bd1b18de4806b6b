import { useLayoutEffect, useRef, type RefObject } from 'react';
import { useShownLocation } from './shown-location.tsx';

/** A page that was left is longer only once its data are there again, so its place is tried until then. */
const RESTORE_MS = 15_000;
/** What a person does with a page ends that. */
const USES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
/** Each write to the storage takes as long as some rows of a table. */
const STORE_MS = 200;

/** Keeps the scroll position of each entry of the browser's history, for Back and for reloads. */
export function useKeptScroll(box: RefObject<HTMLElement | null>): void {
  const key = keyOf(useShownLocation().state);
  const last = useRef(0);
  // Before the page is replaced: the box of a shorter page scrolls up, which is no place that a person left.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const top = readScroll(key);
    // To read or to set its place would lay the new page out at once, and its rows come later in the same frame.
    const stopRestoring = top === 0 && last.current === 0 ? undefined : restoreScroll(element, top);
    last.current = top;
    const stopStoring = storeScrolling(key, element, last);
    return () => {
      stopRestoring?.();
      stopStoring();
    };
  }, [box, key]);
}

/** Stores where a box is scrolled to, in `last` too. Returns a function that ends it. */
function storeScrolling(key: string, box: HTMLElement, last: { current: number }): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const store = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    storeScroll(key, last.current);
  };
  const onScroll = (): void => {
    last.current = box.scrollTop;
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
