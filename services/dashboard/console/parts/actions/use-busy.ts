import { useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';

interface Busy {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly isBusy: boolean;
  /** Makes a call while the button is busy. */
  readonly whileBusy: <Answer>(call: () => Promise<Answer>) => Promise<Answer>;
}

/** A button that is disabled while its call goes on, and has the focus again afterwards unless a person has moved it. */
export function useBusy(): Busy {
  const button = useRef<HTMLButtonElement>(null);
  const [isBusy, setBusy] = useState(false);
  const whileBusy: Busy['whileBusy'] = async (call) => {
    setBusy(true);
    return await call().finally(() => {
      flushSync(() => setBusy(false));
      if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
    });
  };
  return { button, isBusy, whileBusy };
}
