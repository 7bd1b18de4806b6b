import type { ReactElement, ReactNode, Ref } from 'react';

export interface ScrollBoxProps {
  /** What is in it, for who does not see it. */
  label: string;
  className?: string | undefined;
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

/** A part of the page that scrolls, also with the keyboard. */
export function ScrollBox({ label, className, ref, children }: ScrollBoxProps): ReactElement {
  return (
    <section className={className} ref={ref} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
