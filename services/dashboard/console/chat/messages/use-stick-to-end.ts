import { useEffect, useRef, useState, type RefObject } from 'react';

/** Nearer to the end than this counts as there, in pixels. */
const NEAR = 48;

export interface StickToEnd {
  /** What scrolls, and what is in it. */
  box: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  isAtEnd: boolean;
  goToEnd: () => void;
}

/** Keeps a box that grows scrolled to its end, unless the person has scrolled up from there. */
export function useStickToEnd(): StickToEnd {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  useEffect(() => (box.current && content.current ? stick(box.current, content.current, setIsAtEnd) : undefined), []);
  const goToEnd = (): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  return { box, content, isAtEnd, goToEnd };
}

/** Returns what ends it. */
function stick(box: HTMLElement, content: HTMLElement, onChange: (isAtEnd: boolean) => void): () => void {
  let sticks = true;
  let lastTop = 0;
  const onScroll = (): void => {
    // What grows meanwhile takes the end away too; only a person goes up.
    if (isNearEnd(box)) sticks = true;
    else if (box.scrollTop < lastTop) sticks = false;
    lastTop = box.scrollTop;
    onChange(sticks);
  };
  const growth = new ResizeObserver(() => {
    if (sticks) box.scrollTop = box.scrollHeight;
  });
  box.addEventListener('scroll', onScroll, { passive: true });
  growth.observe(content);
  growth.observe(box);
  return () => {
    box.removeEventListener('scroll', onScroll);
    growth.disconnect();
  };
}

function isNearEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < NEAR;
}
