import { useEffect, useRef, useState, type ReactElement, type ReactNode, type Ref, type RefObject } from 'react';

interface ScrollBoxProps {
  /** The name of the content for screen readers. */
  label: string;
  className?: string | undefined;
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

/** A scrolling part of the page that the keyboard reaches too. */
export function ScrollBox({ label, className, ref, children }: ScrollBoxProps): ReactElement {
  return (
    <section className={className} ref={ref} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** Pixels from the end that still count as the end. */
const NEAR_END_PX = 48;

interface StickToEnd {
  /** The scrolling element, and its content. */
  box: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  isAtEnd: boolean;
  goToEnd: () => void;
}

/** Keeps a growing box scrolled to its end, unless the person has scrolled up. */
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

/** Returns a function that stops it. */
function stick(box: HTMLElement, content: HTMLElement, onChange: (isAtEnd: boolean) => void): () => void {
  let sticks = true;
  let lastTop = 0;
  const onScroll = (): void => {
    // Growth moves the end away too, but only a person scrolls up.
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
  return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
}
